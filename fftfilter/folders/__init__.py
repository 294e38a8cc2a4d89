"""Folder runs: read, filter and write overlapped, each file on its own, to be resumed.

tree          what is in a folder, and where each output goes
plan_of_work  what would be done, with the memory and the device
jobs          what is to be done to a file, what became of it
batch         read | filter | write, in threads, images of one size in stacks
processes     several devices, or several processes on one: who gets which files
worker        one of those processes
cluster       many machines: batches of files as tasks of Dask's scheduler
report        what became of each file, in lines of JSON
journal       what is done already
url_journal   the same behind a URL
progress      the bar on a terminal
folder        a whole run from these parts
"""
