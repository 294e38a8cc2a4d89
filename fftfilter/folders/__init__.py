"""Folders: many files filtered, each on its own, to be resumed.

run.py        a whole run: which files, into which, what is remembered of it, what is reported
tree.py       the images in a folder, in natural order
jobs.py       a job is one file of a run; its outcome is what became of it
pool.py       chunks of jobs over workers: feeds them, counts deaths, tries suspects one by one; does a chunk
processes.py  workers on this machine: this process, a process a core, or a process a device
preloaded.py  what those processes import, once for all
cluster.py    workers of a Dask cluster
batch.py      files through one device: read, filtered in stacks of one size, written
steps.py      a job's steps around the filter, whose errors become outcomes
journal.py    what an output folder holds already
report.py     a line of JSON about each file
progress.py   lines on a terminal: the bar, and that programs are compiled
dry_run.py    what a run would do
mean_spectrum.py  the mean power spectrum of all pictures
"""
