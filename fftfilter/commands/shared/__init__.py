"""What several commands share.

options.py          options as decorators, and help under headings
command_options.py  the options of a filter command as they were given; which mean nothing together
file.py             one file into another, and what is printed of it
folder.py           a folder: its options, its progress, its summary
inputs.py           what IN names: a folder, or files
automatic.py        the spectrum that is searched for peaks, and notches for those found
preview.py          a page on one picture, a contact sheet of a folder, pictures of intermediate results
"""
