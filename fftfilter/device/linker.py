"""Links the kernels that PoCL compiles, so that a machine needs no linker and no C library to link with.

PoCL starts ``ld`` for each kernel, and aborts the process where there is none, as in most containers. ``bin/ld`` runs
this file in its place. The input is one object for x86-64; it calls no functions but those of the C library, such as
memcpy. The output is a shared library of two segments: one is executed, and has the sections of the object, then a jump
for each function that is elsewhere; the other has the tables of the dynamic linker. Every address is an offset in the
file. An object that has more than that is left to the system's ``ld``, if there is one.

The words are those of the System V ABI and its supplement for AMD64. This file is run once a kernel: it imports little.
"""

from __future__ import annotations

import os
import struct
import sys

SECTION, SYMBOL, RELOCATION = struct.Struct("<IIQQQQIIQQ"), struct.Struct("<IBBHQQ"), struct.Struct("<QQq")
SEGMENT = struct.Struct("<IIQQQQQQ")
PAGE, HEADERS, JUMP = 4096, 64 + 4 * SEGMENT.size, 16
PC32, PLT32, GLOB_DAT = 2, 4, 6
LIBRARIES = b"\0libc.so.6\0libm.so.6\0"


class LinkError(Exception):
    """The command line or the object has something that this linker does not know, or is damaged."""


def link(code: bytes) -> bytes:
    """Return the shared library of an object; raises LinkError."""
    try:
        kernel = Kernel(code)
        kernel.relocate()
        return _library(kernel)
    except (struct.error, IndexError, KeyError, ValueError) as error:
        raise LinkError(f"a damaged object: {error}") from error


class Kernel:
    """An object as it will be executed: ``image`` has its sections, then a jump to each of the functions ``needed``."""

    def __init__(self, code: bytes) -> None:
        head = struct.unpack_from("<7s9xHHIQQQIHHHHHH", code)
        if head[:3] != (b"\x7fELF\2\1\1", 1, 62):
            raise LinkError("not an object for x86-64")
        self.code, self.image = code, bytearray(HEADERS)
        self.needed: dict[int, int] = {}  # by the number of its symbol, the place of the jump
        self.sections = [SECTION.unpack_from(code, head[6] + SECTION.size * i) for i in range(head[12])]
        self.places: dict[int, int] = {}
        for i, (_, kind, flags, _, offset, size, _, _, align, _) in enumerate(self.sections):
            if offset + size > len(code):
                raise LinkError("a damaged object: it is cut off")
            if flags & 2 and size:  # in memory; 1 is program data, which may be merged or executed, but not written
                if kind != 1 or flags & ~0x36 or align > PAGE:
                    raise LinkError(f"a section of type {kind} with flags {flags:#x}")
                self.image += bytes(-len(self.image) % max(align, 1))
                self.places[i] = len(self.image)
                self.image += code[offset : offset + size]
        (table,) = (section for section in self.sections if section[1] == 2)
        self.symbols = list(SYMBOL.iter_unpack(code[table[4] : table[4] + table[5]]))
        self._names = code[self.sections[table[6]][4] :]

    def name(self, number: int) -> bytes:
        """Return the name of a symbol."""
        start = self.symbols[number][0]
        return self._names[start : self._names.index(b"\0", start)]

    def address(self, number: int) -> int:
        """Return where a symbol of this object is."""
        _, _, _, section, value, _ = self.symbols[number]
        if value > self.sections[section][5]:
            raise LinkError("a damaged object: a symbol is outside of its section")
        return int(self.places[section] + value)

    def relocate(self) -> None:
        """Write into the image where things are that it refers to; append the jumps."""
        self.image += bytes(-len(self.image) % JUMP)
        end = len(self.image)
        for _, kind, _, _, offset, size, _, section, _, _ in self.sections:
            if section in self.places and kind == 9:
                raise LinkError("relocations without addends")
            if section in self.places and kind == 4:
                for at, info, addend in RELOCATION.iter_unpack(self.code[offset : offset + size]):
                    number, form = info >> 32, info & 0xFFFFFFFF
                    is_here = self.symbols[number][3] != 0
                    # A distance, or the distance to a function, which may be elsewhere.
                    if not (form == PLT32 or (form == PC32 and is_here)) or at + 4 > self.sections[section][5]:
                        raise LinkError(f"a relocation of type {form} at {at}")
                    jump = end + JUMP * len(self.needed)
                    to = self.address(number) if is_here else self.needed.setdefault(number, jump)
                    here = self.places[section] + at
                    struct.pack_into("<i", self.image, here, to + addend - here)
        if any(self.name(number).startswith(b"__") for number in self.needed):
            raise LinkError("it calls functions of a compiler")
        addresses = _next_page(end + JUMP * len(self.needed))
        for i in range(len(self.needed)):  # jmp *(rip + ...)
            self.image += struct.pack("<2si10x", b"\xff\x25", addresses + 8 * i - len(self.image) - 6)


def _library(kernel: Kernel) -> bytes:
    """Return the file: the image, then the addresses of the functions that it needs, and the tables."""
    image, names, symbols = kernel.image, LIBRARIES, bytes(SYMBOL.size)
    found = [number for number, symbol in enumerate(kernel.symbols) if symbol[1] >> 4 and symbol[3]]  # global
    for number in (*kernel.needed, *found):
        _, kind, _, section, _, size = kernel.symbols[number]
        symbols += SYMBOL.pack(len(names), kind, 0, bool(section), kernel.address(number) if section else 0, size)
        names += kernel.name(number) + b"\0"
    count = 1 + len(kernel.needed) + len(found)
    data = _next_page(len(image))
    written = bytes(8 * len(kernel.needed))
    # By the tags of DT_SYMTAB, DT_RELA, DT_HASH with one bucket, and DT_STRTAB.
    tables = {
        6: symbols,
        7: b"".join(RELOCATION.pack(data + 8 * i, i + 1 << 32 | GLOB_DAT, 0) for i in range(len(kernel.needed))),
        4: struct.pack(f"<{3 + count}I", 1, count, 1, 0, *range(2, count), 0),
        5: names,
    }
    # DT_NEEDED twice, and the sizes of the tables and of their entries.
    tags = [(1, 1), (1, 11), (8, len(tables[7])), (9, RELOCATION.size), (10, len(names)), (11, SYMBOL.size)]
    for tag, content in tables.items():
        tags.append((tag, data + len(written)))
        written += content + bytes(-len(content) % 8)
    dynamic, size = data + len(written), 16 * (len(tags) + 1)
    written += b"".join(struct.pack("<QQ", *tag) for tag in tags) + bytes(16)
    image[:64] = struct.pack(
        "<7s9xHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 3, 62, 1, 0, 64, 0, 0, 64, SEGMENT.size, 4, 64, 0, 0
    )
    segments = [
        (1, 5, 0, len(image), PAGE),
        (1, 6, data, len(written), PAGE),
        (2, 6, dynamic, size, 8),
        (0x6474E551, 6, 0, 0, 16),  # the stack is not executed
    ]
    for i, (kind, flags, start, length, align) in enumerate(segments):
        SEGMENT.pack_into(image, 64 + SEGMENT.size * i, kind, flags, start, start, start, length, length, align)
    return bytes(image) + bytes(data - len(image)) + written


def _next_page(offset: int) -> int:
    return offset + -offset % PAGE


def files(arguments: list[str]) -> tuple[str, str]:
    """Return the object and the library that PoCL's command line names; raises LinkError for any other."""
    rest, values = iter(arguments), {}
    inputs = []
    for argument in rest:
        if argument in ("-o", "-m", "-z"):
            values[argument] = next(rest, "")
        elif not argument.startswith("-"):
            inputs.append(argument)
        elif argument.startswith("-l") and argument not in ("-lc", "-lgcc", "-lgcc_s"):
            raise LinkError(f"the library {argument}")
    if "-shared" not in arguments or "-o" not in values or len(inputs) != 1 or not inputs[0].endswith(".so.o"):
        raise LinkError("another command line than PoCL's")
    return inputs[0], values["-o"]


def main() -> None:
    """Link, or become the system's linker."""
    try:
        source, target = files(sys.argv[1:])
        with open(source, "rb") as file:  # noqa: PTH123  pathlib takes longer to load than all else
            library = link(file.read())
        with open(target, "wb") as file:  # noqa: PTH123
            file.write(library)
    except (LinkError, OSError) as error:
        own = os.path.join(os.path.dirname(os.path.realpath(__file__)), "bin")  # noqa: PTH118, PTH120
        for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
            if os.access(system := f"{folder}/ld", os.X_OK) and os.path.realpath(folder) != own:
                os.execv(system, [system, *sys.argv[1:]])  # noqa: S606
        sys.exit(f"fftfilter's linker of kernels: {error}; and the system has no ld")


if __name__ == "__main__":
    main()
