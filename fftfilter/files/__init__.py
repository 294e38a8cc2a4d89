"""Files as bytes: where those of an input come from, and how those of an output are written.

    content(source) -> bytes  ...  store(target, parts, times)

    sources.py            all bytes of a file, a URL or standard input
    atomic.py             outputs that appear whole or not at all; what a killed run left behind
    urls.py               files behind URLs, through fsspec
    standard_streams.py   standard input, output and error, which may be closed or full
    messages.py           what errors about files say: name, cause, way out

Nothing here knows what an image is but the words of errors.
"""
