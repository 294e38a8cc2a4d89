"""What `fftfilter bench` measures: the papers' tables on this device, and what users wait for.

measure      OpenCL event times of a piece of work, after its result was checked
compare      statistics: median and spread, ratios, Gflop/s
tables       a table as text, markdown, CSV or JSON
plot         a table as a picture
environment  the environment of programs that are timed

experiments  the papers' tables: which work, in which order
published    the figures of the sources, with the hardware they were taken on

peers        the same job by other libraries
race         fftfilter beside its peers, in turn
overlap      a stream of pictures beside its parts
tune         what is faster on a device than the defaults

start        the command as a whole process
folder_race  a folder by whole commands, those in by_others beside fftfilter
photographs  the pictures of such a folder
png_levels   time and size of --png-level
cluster      what a Dask cluster costs
"""
