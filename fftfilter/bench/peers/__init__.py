"""The same high-pass by this program and by other libraries, 8-bit image in, 8-bit image out.

    table.py        the table: checks every peer's picture, then times all in turn
    cpu.py          NumPy, SciPy, pyFFTW, mkl_fft, OpenCV, PyTorch
    gpu.py          CuPy with cuFFT, PyTorch, VkFFT, and a copy on the device
    transforms.py   the table of plain FFTs, by NumPy, SciPy, pyFFTW, mkl_fft, PyTorch, cuFFT

Each library has its best setting: real transforms in single precision, all cores. Those that are installed take part.
"""
