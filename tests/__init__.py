from fftfilter import startup

# As the program does, before NumPy is imported: threads that wait for each other take more time than these arrays do.
startup.limit_openblas()
