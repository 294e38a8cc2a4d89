"""What several commands share.

options.py          options as decorators, and help under headings
file.py             one file into another, and what is printed of it
folder.py           a folder: what IN names, the options, progress and summary of a run
automatic.py        the spectrum that is searched for peaks, and notches for those found
preview.py          a page on one picture, a contact sheet of a folder, pictures of intermediate results
words.py            a recipe in the words of a command line
"""
