"""A page in the browser: a filter is dragged over the spectrum of a picture, and the result follows.

    server.py      routes below a secret path, for this machine's pages alone
    live.py        the WebSocket: requests come in, and the newest one is answered
    request.py     a request: a command with its options, in the words of the command line
    answers.py     what is filtered for a request, and by which of the filters that are kept ready
    shown.py       pixels as a browser shows them, reduced for quick looks, and the frames that carry them
    words.py       what is said of a result: the command line, the Python call, curves, the histogram
    session.py     what is open: a file, its pages, their spectra
    saving.py      the command is run, and its output gets its name in one folder
    steps.py       the book's pipeline on this picture, step by step

In page/ is what the browser loads: HTML, CSS and JavaScript.

The way of a drag: a pointer moves -> the page sends a request -> newest only -> click parses it -> ``Filter.retune``
-> a frame of pixels -> the canvas. The commands lie above this room, which gets what they do: ``request.CommandLine``.
"""
