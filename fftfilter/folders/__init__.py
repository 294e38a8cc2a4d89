"""Folders: many files, each filtered on its own, in runs that can be resumed.

run.py        a whole run: its files, their outputs, its journal and report
jobs.py       the images in a folder, in natural order; a job is one file of a run, and its outcome the result
pool.py       chunks of jobs over executors: feeds them, tries those of a dead worker again alone; does a chunk
processes.py  executors of this machine, one a device: this process, or a pool of processes; planes of an OME-Zarr
preloaded.py  the imports of those processes, once for all
cluster.py    the executor of a Dask cluster
batch.py      files through one device: read, filtered in stacks of one size, written; errors become outcomes
journal.py    the files that an output folder holds already
report.py     a line of JSON about each file; a dry run
mean_spectrum.py  the mean power spectrum of all pictures
"""
