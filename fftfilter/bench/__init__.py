"""The papers' tables on this device: experiments, measuring, statistics, rendering, plotting, published figures.

measure      OpenCL event times of a piece of work, after its result was checked
compare      statistics: median and spread, ratios, Gflop/s
published    the figures of the sources, with the hardware they were taken on
experiments  the tables: which work, in which order
peers        the same job by other libraries
race         fftfilter beside its peers, in turn
tables       a table as text, markdown, CSV or JSON
plot         a table as a picture
"""
