"""Workers of a Dask cluster.

scheduler.py   the scheduler: reached by its address, or started here with workers of its own
workers.py     its workers, as a pool takes them
"""
