"""Bytes of files: inputs are read, and outputs written, without a look at what they mean.

    content(source) -> bytes  ...  store(target, parts, times)

    sources.py     all bytes of a file, a URL or standard input; folders that are held open, so that no link leads
                   elsewhere
    atomic.py      outputs that appear whole or not at all; leftovers of killed runs
    urls.py        files behind URLs, through fsspec; which names from outside are names
    messages.py    standard input, output and error, which may be closed or full; the progress there; errors about files

Only the messages know that these are images.
"""
