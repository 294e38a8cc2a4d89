"""A page in the browser: the user drags a filter over the spectrum of a picture, and the result follows.

    server.py      routes below a secret path, for this machine's pages alone
    request.py     what a page asks: a result, by a command with its options, as on a command line; and all else:
                   pictures, spectra, peaks, the book's pipeline step by step; and the part of a picture that a page
                   marks, as a rectangle or a mask
    answers.py     the WebSocket, which answers the newest request: the filtered picture, by filters that are kept
                   ready, and the words beside it, command line, Python call, curve, histogram
    saving.py      runs the command, and gives its output a name in one folder
    session.py     the open file, the folder around it, and threads, one for each kind of work
    shown.py       a page of the file, its spectrum, pixels as a browser shows them, and the frames that carry them

The browser loads the HTML, CSS and JavaScript in page/.

The way of a drag: a pointer moves -> the page sends a request -> newest only -> click parses it -> ``Filter.retune``
-> a frame of pixels -> the canvas. The commands lie above this room, which gets them as an argument.
"""
