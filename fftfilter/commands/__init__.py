"""The commands: from the words of a command line to a recipe, and what is printed.

filters.py      the filters: their options, what these describe, and whether IN is a file or a folder
kinds.py        each filter's own options and help
one_file.py     one file into another, what is printed of it, and pictures of it: --preview, --save-stages
folder.py       a folder: what IN names, the options, progress and summary of a run, and its --preview
options.py      options that several commands have, and help under headings
apply.py, bench.py, devices.py (with engines), explore.py, peaks.py and spectrum.py     the commands of these names
"""
