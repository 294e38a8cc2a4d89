"""A page in the browser: the user drags a filter over the spectrum of a picture, and the result follows.

    server.py      routes below a secret path, for this machine's pages alone
    questions.py   what a page asks besides results: pictures, spectra, peaks, the meaning of a number
    folder.py      the pictures of the folder, and those that are open
    workers.py     threads, one for each kind of work; what nobody waits for stops
    live.py        the WebSocket, which answers the newest request
    request.py     a request: a command with its options, as on a command line
    answers.py     the filtered picture of a request, by filters that are kept ready, and the words beside it:
                   command line, Python call, curve, histogram
    shown.py       pixels as a browser shows them, reduced for quick looks, and the frames that carry them
    session.py     the open file, its pages, their spectra
    saving.py      runs the command, and gives its output a name in one folder
    steps.py       the book's pipeline on this picture, step by step

The browser loads the HTML, CSS and JavaScript in page/.

The way of a drag: a pointer moves -> the page sends a request -> newest only -> click parses it -> ``Filter.retune``
-> a frame of pixels -> the canvas. The commands lie above this room, which gets them as ``request.CommandLine``.
"""
