"""Outputs that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import struct
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from fftfilter.errors import ParameterError
from fftfilter.files.atomic import growing, is_special, refuse_inputs, refuse_unwritable, store, take_place
from fftfilter.files.sources import identity
from tests.files.helpers import python
from tests.helpers import needs_links, needs_posix

needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
needs_dev_stdout = pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="needs /dev/stdout")


@pytest.mark.parametrize("old", [None, b"precious and longer than the new one"])
def test_the_parts_of_a_file_are_joined(tmp_path, old):
    target = tmp_path / "out"
    if old:
        target.write_bytes(old)
    store(target, [b"abc", b"", memoryview(b"-defg-")[1:5], b"h"])
    assert target.read_bytes() == b"abcdefgh"
    assert list(tmp_path.iterdir()) == [target]


def test_thousands_of_parts_become_one_file(tmp_path):
    parts = [b"%d," % i for i in range(5000)]
    store(tmp_path / "out", parts)
    assert (tmp_path / "out").read_bytes() == b"".join(parts)


def test_parts_without_any_byte_make_an_empty_file(tmp_path):
    store(tmp_path / "out", [b"", b""])
    assert (tmp_path / "out").read_bytes() == b""


@needs_posix
@pytest.mark.parametrize("kind", ["a file", "what cannot have a second name"])
def test_a_whole_file_takes_a_name_only_if_nobody_has_it(tmp_path, kind):
    """A directory stands for the files of a disk without hard links."""
    part = tmp_path / "part"
    part.write_bytes(b"whole") if kind == "a file" else part.mkdir()
    (tmp_path / "taken").write_bytes(b"old")
    with pytest.raises(FileExistsError):
        take_place(str(part), str(tmp_path / "taken"), None)
    assert (tmp_path / "taken").read_bytes() == b"old"
    take_place(str(part), str(tmp_path / "out"), None)
    assert (tmp_path / "out").is_dir() == (kind != "a file")


def test_a_file_that_is_gone_meanwhile_gives_nothing_its_name(tmp_path):
    with pytest.raises(FileNotFoundError):
        take_place(str(tmp_path / "part"), str(tmp_path / "out"), None)
    assert not list(tmp_path.iterdir())


# Faults


def test_a_disk_that_is_full_in_the_middle_leaves_the_old_file_and_no_other(tmp_path):
    """The system lets the process write 1000 bytes of the 10,000."""
    pytest.importorskip("resource")
    (tmp_path / "out").write_bytes(b"old")
    code = """
import resource, signal
from fftfilter.files.atomic import store
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
for name in ("out", "new"):
    try: store(name, [bytes(600), bytes(9400)])
    except OSError as error: print(name, error.strerror)
"""
    done = python(code, cwd=tmp_path)
    assert done.stdout.decode().splitlines() == ["out File too large", "new File too large"], done.stderr.decode()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out").read_bytes() == b"old"


@pytest.mark.parametrize("failure", [KeyboardInterrupt(), OSError(errno.ENOSPC, "full"), MemoryError()], ids=repr)
def test_whatever_stops_the_writing_the_temporary_file_goes(tmp_path, failure):
    seen = []

    def parts():
        yield b"half"
        seen.extend(path.name for path in tmp_path.iterdir())
        raise failure

    with pytest.raises(type(failure)):
        store(tmp_path / "out.png", parts())
    (temporary,) = seen
    assert temporary.startswith(f".out.png.fftfilter-{os.getpid()}-")
    assert temporary.endswith(".tmp")
    assert list(tmp_path.iterdir()) == []


@needs_posix
def test_a_kill_in_the_middle_leaves_the_old_file(tmp_path):
    (tmp_path / "out").write_bytes(b"old")
    code = """
import os, signal
from fftfilter.files.atomic import store
def parts():
    yield b"half"
    os.kill(os.getpid(), signal.SIGKILL)
store("out", parts())
"""
    assert python(code, cwd=tmp_path).returncode != 0
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left[1:] == ["out"]
    assert left[0].startswith(".out.fftfilter-")
    assert (tmp_path / "out").read_bytes() == b"old"


@pytest.mark.usefixtures("ordinary_user")
def test_missing_permissions_leave_everything_as_it_is(open_folder):
    target, folder = open_folder / "out.pgm", open_folder / "locked"
    target.write_bytes(b"precious")
    target.chmod(0o444)
    folder.mkdir()
    folder.chmod(0o555)
    for path in target, folder / "out.pgm":
        with pytest.raises(PermissionError):
            store(path, [b"new"])
    assert target.read_bytes() == b"precious"
    assert sorted(path.name for path in open_folder.rglob("*")) == ["locked", "out.pgm"]


@needs_links
def test_links_in_a_circle_are_an_error(tmp_path):
    (tmp_path / "a.png").symlink_to(tmp_path / "b.png")
    (tmp_path / "b.png").symlink_to(tmp_path / "a.png")
    with pytest.raises(OSError, match="Too many levels of symbolic links"):
        store(tmp_path / "a.png", [b"x"])


# What an output inherits


@needs_posix
def test_permissions_are_those_of_an_ordinary_new_file(tmp_path):
    before = os.umask(0o027)
    try:
        store(tmp_path / "new", [b"x"])
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


@needs_posix
def test_permissions_of_an_existing_file_are_kept(tmp_path):
    target = tmp_path / "out"
    target.touch()
    target.chmod(0o604)
    store(target, [b"x"])
    assert stat.S_IMODE(target.stat().st_mode) == 0o604
    assert target.read_bytes() == b"x"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give files away")
def test_the_owner_of_an_existing_file_is_kept(tmp_path):
    target = tmp_path / "out"
    target.touch()
    os.chown(target, 65534, 65534)
    store(target, [b"x"])
    assert (target.stat().st_uid, target.stat().st_gid) == (65534, 65534)


ACCESS_LIST, DEFAULT_LIST = "system.posix_acl_access", "system.posix_acl_default"
OF_NOBODY = 0xFFFFFFFF


def access_list(owner, named, group, mask, other):
    """Return the bytes of an access list that names the user 1234."""
    entries = (
        (1, owner, OF_NOBODY),
        (2, named, 1234),
        (4, group, OF_NOBODY),
        (16, mask, OF_NOBODY),
        (32, other, OF_NOBODY),
    )
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


def set_attribute(path, name, value):
    try:
        os.setxattr(path, name, value)
    except (AttributeError, OSError) as error:
        pytest.skip(f"this disk has no {name}: {error}")


def attributes(path):
    return {name: os.getxattr(path, name) for name in os.listxattr(path) if name != "security.selinux"}


def grown(target, parts, **options):
    """Write a file as stacks are; return what it lost."""
    lost = []
    with growing(target, lost=lost, **options) as file:
        file.writelines(parts)
    return lost


@pytest.mark.parametrize("write", [store, grown])
def test_attributes_and_the_access_list_of_an_existing_file_are_kept(tmp_path, write):
    target = tmp_path / "out"
    target.touch()
    target.chmod(0o640)
    set_attribute(target, "user.tag", b"mine")
    set_attribute(target, "user.empty", b"")
    set_attribute(target, ACCESS_LIST, access_list(6, 6, 4, 6, 0))
    before = attributes(target), target.stat().st_mode
    assert write(target, [b"x"]) == []
    assert (attributes(target), target.stat().st_mode) == before
    assert len(before[0]) == 3
    assert target.read_bytes() == b"x"


def test_a_folder_s_default_access_list_gives_an_existing_file_no_further_readers(tmp_path):
    target = tmp_path / "out"
    target.touch()
    target.chmod(0o660)
    set_attribute(tmp_path, DEFAULT_LIST, access_list(7, 7, 7, 7, 7))
    assert store(target, [b"x"]) == []
    assert ACCESS_LIST not in attributes(target)
    assert stat.S_IMODE(target.stat().st_mode) == 0o660
    store(tmp_path / "new", [b"x"])  # which gets what any new file does
    assert ACCESS_LIST in attributes(tmp_path / "new")


@pytest.mark.usefixtures("ordinary_user")
def test_what_an_existing_file_gives_others_is_not_for_everybody_while_it_is_written(open_folder):
    target = open_folder / "out"
    target.touch()
    target.chmod(0o600)
    before = os.umask(0)
    try:
        with growing(target) as file:
            (temporary,) = (path for path in open_folder.iterdir() if path != target)
            assert stat.S_IMODE(temporary.stat().st_mode) == 0o600
            file.write(b"x")
    finally:
        os.umask(before)


needs_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give files away")


@needs_root
@pytest.mark.parametrize(
    ("mode", "after"), [(0o660, 0o600), (0o640, 0o600), (0o664, 0o644), (0o604, 0o600), (0o2755, 0o755)]
)
def test_another_group_gets_no_rights_that_others_had_not(open_folder, request, mode, after):
    target = open_folder / "out"
    target.touch()
    os.chown(target, 65534, 1234)
    target.chmod(mode)
    request.getfixturevalue("ordinary_user")
    assert store(target, [b"x"]) == ["group"]
    assert target.stat().st_gid != 1234
    assert stat.S_IMODE(target.stat().st_mode) == after


@needs_root
def test_another_group_gets_none_of_the_rights_of_an_access_list(open_folder, request):
    target = open_folder / "out"
    target.touch()
    os.chown(target, 65534, 1234)
    set_attribute(target, ACCESS_LIST, access_list(6, 0, 6, 6, 4))  # others may read, but the user 1234 may not
    request.getfixturevalue("ordinary_user")
    assert store(target, [b"x"]) == ["group", ACCESS_LIST]
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert ACCESS_LIST not in attributes(target)


@needs_root
def test_another_owner_runs_nothing_as_the_old_one(open_folder, request):
    target = open_folder / "out"
    target.touch()
    os.chown(target, 4321, 0)
    target.chmod(0o6777)
    request.getfixturevalue("ordinary_user")
    assert store(target, [b"x"]) == ["owner"]
    assert target.stat().st_uid == 65534
    assert stat.S_IMODE(target.stat().st_mode) == 0o777


@needs_root
def test_attributes_that_only_root_may_set_are_told(open_folder, request):
    target = open_folder / "out"
    target.touch()
    os.chown(target, 65534, 0)
    set_attribute(target, "security.mark", b"secret")
    set_attribute(target, "user.tag", b"mine")
    request.getfixturevalue("ordinary_user")
    assert store(target, [b"x"]) == ["security.mark"]
    assert attributes(target) == {"user.tag": b"mine"}


@needs_links
def test_other_names_of_an_existing_file_keep_what_it_was(tmp_path):
    target = tmp_path / "out"
    target.write_bytes(b"old")
    (tmp_path / "other").hardlink_to(target)
    assert store(target, [b"new"]) == ["the other names of the file (hard links)"]
    assert ((tmp_path / "other").read_bytes(), target.read_bytes()) == (b"old", b"new")


def test_times_can_be_given(tmp_path):
    store(tmp_path / "out", [b"x"], (1_000_000_000_123_456_789, 1_200_000_000_987_654_321))
    assert (tmp_path / "out").stat().st_mtime_ns == 1_200_000_000_987_654_321


@needs_links
def test_a_symbolic_link_is_followed(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder" / "real")
    for data in b"new", b"existing":
        store(tmp_path / "link", [data])
        assert (tmp_path / "link").is_symlink()
        assert [path.name for path in (tmp_path / "folder").iterdir()] == ["real"]
        assert (tmp_path / "folder" / "real").read_bytes() == data


def test_a_name_of_the_greatest_length_can_be_written(tmp_path):
    name = "é" * 125 + ".png"
    store(tmp_path / name, [b"x"])
    assert [path.name for path in tmp_path.iterdir()] == [name]
    with pytest.raises(OSError, match="File name too long"):
        store(tmp_path / f"xx{name}", [b"x"])


# Standard output, pipes and devices


def test_a_dash_is_standard_output(tmp_path):
    code = "import os; from fftfilter.files.atomic import store; store('-', [b'abc', b'de']); os.write(1, b'f')"
    assert python(code, cwd=tmp_path).stdout == b"abcdef"
    assert list(tmp_path.iterdir()) == []


def test_a_closed_standard_output_is_an_error():
    done = python("import sys; sys.stdout = None\nfrom fftfilter.files.atomic import store; store('-', [b'abc'])")
    assert done.stderr.endswith(b"OSError: [Errno 9] Bad file descriptor\n")


@needs_pipes
def test_a_named_pipe_is_written_into_and_stays(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=store, args=(pipe, [b"abc", b"def"]))
    writer.start()
    assert pipe.read_bytes() == b"abcdef"
    writer.join()
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@needs_dev_stdout
def test_devices_stay():
    done = python("from fftfilter.files.atomic import store; store('/dev/null', [b'a']); store('/dev/stdout', [b'b'])")
    assert done.stdout == b"b"
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


@needs_dev_stdout
def test_a_redirected_dev_stdout_is_not_replaced(tmp_path):
    with (tmp_path / "out").open("wb") as out:
        python("from fftfilter.files.atomic import store; store('/dev/stdout', [b'abc'])", stdout=out)
        assert os.path.samestat(os.fstat(out.fileno()), (tmp_path / "out").stat())
    assert (tmp_path / "out").read_bytes() == b"abc"


@needs_pipes
def test_streams_pipes_and_devices_are_special_and_nothing_else_is(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link to pipe").symlink_to("pipe")
    for special in (
        "/dev/null",
        "/dev/stdout",
        "/dev/stderr",
        "/dev/fd/7",
        "/proc/self/fd/1",
        tmp_path / "pipe",
        tmp_path / "link to pipe",
    ):
        assert is_special(Path(special)), special
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("file")
    for ordinary in "file", "link", "missing", ".", "proc/self/fd/1":
        assert not is_special(tmp_path / ordinary), ordinary
    assert not is_special(Path(f"/proc/self/cwd{tmp_path}/file"))


# Files that grow

TIMES = 1_000_000_000_123_456_789, 1_200_000_000_987_654_321


@needs_posix
def test_a_file_that_grows_is_written_and_read_anywhere_and_takes_its_place_at_the_end(tmp_path):
    target = tmp_path / "out"
    target.write_bytes(b"old")
    target.chmod(0o604)
    with growing(target, TIMES) as file:
        file.write(b"..cdef")
        file.seek(2)
        assert file.read() == b"cdef"
        file.seek(0)
        file.write(b"ab")
        assert target.read_bytes() == b"old"
    assert target.read_bytes() == b"abcdef"
    assert (stat.S_IMODE(target.stat().st_mode), target.stat().st_mtime_ns) == (0o604, TIMES[1])


def test_a_file_that_grows_and_fails_leaves_the_old_one_and_no_other(tmp_path):
    (tmp_path / "out").write_bytes(b"old")

    def grow():
        with growing(tmp_path / "out") as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grow()
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("out", b"old")]


@needs_links
def test_a_file_that_grows_follows_a_symbolic_link(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    with growing(tmp_path / "link") as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_a_stream_gets_a_file_that_grows_whole_and_at_its_end(capsysbinary):
    with growing("-") as file:
        file.write(b".." + bytes(1 << 21))
        file.seek(0)
        file.write(b"ab")
        assert capsysbinary.readouterr().out == b""
    assert capsysbinary.readouterr().out == b"ab" + bytes(1 << 21)


# Inputs


@needs_links
def test_a_file_is_the_same_by_each_of_its_names(tmp_path):
    file, hard, soft = (tmp_path / name for name in ("file", "hard", "soft"))
    file.touch()
    hard.hardlink_to(file)
    soft.symlink_to(file)
    roundabout = tmp_path / ".." / tmp_path.name / "file"
    both = [f"{scheme}://{file}" for scheme in ("local", "file")]
    assert {identity(name) for name in (file, hard, soft, roundabout, *both)} == {identity(file)}
    assert identity(file) is not None
    (tmp_path / "other").touch()
    assert identity(tmp_path / "other") not in (None, identity(file))
    for nothing in tmp_path, tmp_path / "missing", tmp_path / "nul\0", "/dev/null", "s3://bucket/file":
        assert identity(nothing) is None, nothing
    refuse_inputs(tmp_path / "missing", [None])
    for name in file, hard, soft, roundabout, *both:
        with pytest.raises(
            ParameterError, match=r": is the input itself; choose another name, or --in-place to overwr"
        ):
            refuse_inputs(name, [None, identity(file)])


def test_the_files_behind_standard_input_and_output_are_told_apart(tmp_path):
    code = (
        "import sys; from fftfilter.files.sources import identity; "
        "print(*(identity('-', is_output=i) == identity(n) for i in (0, 1) for n in ('in', 'out')), file=sys.stderr)"
    )
    (tmp_path / "in").touch()
    with (tmp_path / "in").open("rb") as given, (tmp_path / "out").open("wb") as out:
        done = python(code, stdin=given, stdout=out, stderr=subprocess.PIPE, cwd=tmp_path)
    assert done.stderr == b"True False False True\n"


def replaced_by(kind, target, file):
    """Put another name of a file in the place of a target."""
    target.unlink(missing_ok=True)
    {"symbolic": target.symlink_to, "hard": target.hardlink_to, "moved": file.rename}[kind](
        target if kind == "moved" else file
    )


@pytest.mark.parametrize("write", ["store", "growing"])
@pytest.mark.parametrize("kind", ["symbolic", "hard", "moved"])
def test_an_output_that_becomes_the_input_while_it_is_written_replaces_nothing(tmp_path, kind, write):
    file, target = tmp_path / "in", tmp_path / "out"
    file.write_bytes(b"precious")
    spare = [identity(file)]

    def parts():
        replaced_by(kind, target, file)
        yield b"new"

    def grow():
        with growing(target, spare=spare) as growing_file:
            growing_file.writelines(parts())

    with pytest.raises(ParameterError, match="out: is the input itself"):
        store(target, parts(), spare=spare) if write == "store" else grow()
    assert target.read_bytes() == b"precious"
    assert not [path.name for path in tmp_path.iterdir() if path.name not in ("in", "out")]


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize("name", ["-", "/dev/stdout", "/proc/self/fd/1"])
def test_an_open_stream_that_is_the_input_is_not_written_into(tmp_path, name):
    code = (
        "from fftfilter.files.atomic import store\nfrom fftfilter.files.sources import identity\n"
        f"try: store({name!r}, [b'new'], spare=[identity('in')])\n"
        "except ValueError as error: raise SystemExit(7)"
    )
    (tmp_path / "in").write_bytes(b"precious")
    with (tmp_path / "in").open("r+b") as out:
        assert python(code, stdout=out, stderr=subprocess.PIPE, cwd=tmp_path).returncode == 7
    assert (tmp_path / "in").read_bytes() == b"precious"


@needs_posix
@pytest.mark.parametrize(
    ("disk", "may_write", "cause"),
    [
        ({}, True, None),
        ({}, False, errno.EACCES),
        ({"f_flag": os.ST_RDONLY if hasattr(os, "ST_RDONLY") else 1}, False, errno.EROFS),
        ({"f_bfree": 0}, True, errno.ENOSPC),
    ],
    ids=["fine", "not allowed", "read-only", "no space"],
)
def test_why_no_file_can_be_made_in_a_folder_is_known_before_the_work(tmp_path, monkeypatch, disk, may_write, cause):
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(**{"f_flag": 0, "f_bfree": 5} | disk))
    monkeypatch.setattr(os, "access", lambda *_: may_write)
    if cause is None:
        refuse_unwritable(str(tmp_path))
    else:
        with pytest.raises(OSError, match=os.strerror(cause)) as caught:
            refuse_unwritable(str(tmp_path))
        assert caught.value.errno == cause
