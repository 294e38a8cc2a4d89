"""A folder filtered by other programs, each as a command of its own that a good user of theirs would write.

    python -m benchmarks.by_others.NAME INPUTS TARGET LEVEL AIDS

INPUTS is the folder of the files, and TARGET gets files of the same names, PNGs at LEVEL. AIDS is a folder of prepared
files: the filtered pictures as bare bytes (NAME.raw), and the mask as a picture with frequency 0 in its middle
(mask.pgm).
"""
