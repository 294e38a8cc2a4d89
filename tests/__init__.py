from fftfilter import system

# As the program does, before NumPy is imported: threads that wait for each other take more time than these arrays do.
system.limit_openblas()
