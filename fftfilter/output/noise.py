"""The noise floor: what is left of an image by rounding alone is black.

A filter that removes everything still leaves rounding errors: in single precision up to 1.4e-6 of the input's largest
value in images of 1 to 16 million pixels. Without a floor they would be stretched to a full picture. The floor lies
seven times above them.
"""

NOISE = 1e-5
"""A result that never exceeds this part of the input's largest value is rounding noise."""
