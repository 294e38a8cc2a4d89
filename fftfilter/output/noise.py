"""The noise floor: what is left of an image by rounding alone is black.

A filter that removes everything still leaves what single precision has rounded away, up to 1.4e-6 of the input's
largest value in images of 1 to 16 million pixels. Without a floor that would be stretched to a full picture. It lies
seven times above.
"""

NOISE = 1e-5
"""A result that never exceeds this part of the input's largest value is rounding noise."""
