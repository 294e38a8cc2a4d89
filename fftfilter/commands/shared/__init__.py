"""What several commands share.

options.py          options, and help under headings
one_file.py         one file into another, what is printed of it, and pictures of it: --preview, --save-stages
folder.py           a folder: what IN names, the options, progress and summary of a run, and its --preview
automatic.py        the spectrum that is searched for peaks, and notches for those found
"""
