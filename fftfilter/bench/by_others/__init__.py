"""The same job on a folder by others, each as a command of its own: what a good user of theirs would write.

python -m fftfilter.bench.by_others.NAME PICTURES TARGET LEVEL HELP

PICTURES are read, TARGET gets files of the same names, PNGs at LEVEL; HELP is a folder with what was prepared: the
filtered pictures as bare bytes (NAME.raw) and the mask as a picture, its middle the frequency 0 (mask.pgm).
"""
