"""A fuzzer of the numbers: random filters of random pictures by every engine, beside the float64 reference.

python -m tests.soak --minutes 10    # about a thousand cases a minute on two cores
python -m tests.soak --case 123456   # that case again, with all that is compared

cases.py      random cases, each made from its seed and nothing else
walks.py      a filter that is used again, in random walks
check.py      a case filtered, again and by several threads, and compared
__main__.py   cases in processes, and their summary
"""
