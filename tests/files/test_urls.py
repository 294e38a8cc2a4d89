"""Files behind URLs: memory:// in this process, local:// on this machine, http:// from a server on it."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fftfilter.errors import ParameterError
from fftfilter.files import urls
from fftfilter.files.atomic import growing
from fftfilter.files.messages import reason
from fftfilter.files.sources import content
from fftfilter.files.urls import Url
from tests.files.helpers import message, python, serve

fsspec = pytest.importorskip("fsspec")
pytest.importorskip("aiohttp")

ODD = ["a 2.pgm", "50% #1.pgm", "Grüße 猫.pgm", "what?.pgm", "+.pgm"]


@pytest.fixture
def memory():
    system = fsspec.filesystem("memory")
    yield system
    system.store.clear()
    system.pseudo_dirs[:] = [""]


class Driver(fsspec.AbstractFileSystem):
    """Behind driver://, what a test chooses."""

    entry = None
    entries = ()
    failure = None

    def info(self, *_, **__):
        return self.entry

    def ls(self, *_, **__):
        return list(self.entries)

    def _open(self, *_, **__):
        raise self.failure


@pytest.fixture
def driver():
    fsspec.register_implementation("driver", Driver, clobber=True)
    return Driver


# Names


@pytest.mark.parametrize("name", ["s3://b/a.png", "http://a", "x+y.z-1://", "file:///a", "memory://a"])
def test_a_url_has_a_scheme(name):
    assert urls.is_url(name)
    assert urls.place(name) == Url(name)


@pytest.mark.parametrize("name", ["a.png", "/a//b", "./http://a.pgm", "C:\\a.png", "C:/a", "1://a", "://a", ":", "-"])
def test_all_other_names_are_paths(name):
    assert not urls.is_url(name)
    assert urls.place(name) == Path(name)


def test_a_path_is_no_url(tmp_path):
    assert not urls.is_url(tmp_path / "http:" / "a.pgm")


@pytest.mark.parametrize("folder", ["memory://in", "memory://in/", "http://host/in/"])
@pytest.mark.parametrize("name", ODD)
def test_a_file_in_a_folder_and_back(folder, name):
    file = urls.file_in(urls.place(folder), name)
    assert file == str(Url(folder) / name)
    assert urls.split(file) == (folder.rstrip("/"), name)
    assert (Url(file).name, Url(file).parent) == (name, Url(folder.rstrip("/")))


@pytest.mark.parametrize("folder", ["", "in/", "in"])
def test_an_archive_s_members_stand_before_the_archive(tmp_path, folder):
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr(f"{folder.strip('/')}/a b.pgm".lstrip("/"), b"P5 1 1 255 x")
    url = urls.place(f"zip://{folder}::{archive}")
    assert urls.is_folder(url)
    with urls.scandir(url) as entries:
        file = urls.file_in(url, next(entries).name)
    assert file == f"zip://{folder.rstrip('/')}/a b.pgm::{archive}".replace(":///", "://")
    assert urls.content(file) == b"P5 1 1 255 x"
    parent, name = urls.split(file)
    assert urls.file_in(urls.place(parent), name) == file


def test_a_scheme_may_have_capitals(tmp_path):
    (tmp_path / "a.pgm").write_bytes(b"x")
    with serve(tmp_path) as address:
        url = urls.place(f"{address.replace('http', 'HTTP', 1).rstrip('/')}/")
        with urls.scandir(url) as entries:
            assert urls.content(urls.file_in(url, next(entries).name)) == b"x"
        assert urls.content(f"{address.replace('http', 'HTTP', 1).rstrip('/')}/a.pgm") == b"x"


def test_names_are_quoted_on_the_web_alone():
    assert str(Url("http://host/in/") / "50% #1.pgm") == "http://host/in/50%25%20%231.pgm"
    assert str(Url("s3://bucket/in") / "50% #1.pgm") == "s3://bucket/in/50% #1.pgm"


def test_paths_are_split_and_joined_as_ever(tmp_path):
    assert urls.file_in(tmp_path, "a.png") == str(tmp_path / "a.png")
    assert urls.split(str(tmp_path / "a.png")) == (str(tmp_path), "a.png")


def test_a_url_is_its_own_folder_and_absolute():
    url = Url("memory://in/")
    assert url / "" == url
    assert url.absolute() == url


@pytest.mark.skipif(os.name == "nt", reason="paths of POSIX")
def test_a_file_url_is_a_path():
    assert urls.without_file_scheme("file:///a%20b/%C3%A9.png") == "/a b/é.png"
    assert urls.without_file_scheme("FILE:///a") == "/a"
    for other in "a.png", "s3://b/a%20b.png", "file.png":
        assert urls.without_file_scheme(other) == other
    with pytest.raises(ParameterError, match="no file's name has %00"):
        urls.without_file_scheme("file:///a%00b.png")


def test_only_the_web_is_read_only():
    urls.refuse_reading_only("s3://b/out/")
    for url in "http://host/out.png", "HTTPS://host/out/":
        assert Url(url).is_web
        with pytest.raises(ParameterError, match=f"^{url}: can only be read; choose another place for OUT"):
            urls.refuse_reading_only(url)
        with pytest.raises(ParameterError, match="can only be read"):
            urls.store(url, [b"x"])


def test_names_alone_never_import_fsspec():
    code = (
        "import sys; from fftfilter.files import urls\n"
        "urls.split(str(urls.place('s3://a/b') / 'c')); urls.is_url('x'); urls.without_file_scheme('file:///a')\n"
        "assert 'fsspec' not in sys.modules"
    )
    done = python(code)
    assert done.returncode == 0, done.stderr.decode()


# Files


def test_a_file_is_written_read_and_removed(memory):
    url = "memory://out/deep/er/a 1.pgm"
    urls.store(url, [b"abc", memoryview(b"-def")[1:]])
    assert memory.cat_file("/out/deep/er/a 1.pgm") == b"abcdef"
    assert urls.content(url) == content(url) == b"abcdef"
    urls.store(url, [b"again"])
    assert urls.content(url) == b"again"
    urls.remove(url)
    with pytest.raises(FileNotFoundError):
        urls.content(url)


def test_a_file_that_grows_is_sent_whole_at_its_end(memory):
    with growing("memory://out/a.tif") as file:
        file.write(b"..cd")
        file.seek(0)
        file.write(b"ab")
        assert not memory.exists("/out/a.tif")
    assert memory.cat_file("/out/a.tif") == b"abcd"


def test_folders_that_a_file_system_needs_are_created(tmp_path):
    urls.store(f"local://{tmp_path}/new/deep/a.pgm", [b"abc"])
    assert (tmp_path / "new/deep/a.pgm").read_bytes() == b"abc"


@pytest.mark.parametrize("name", ODD)
def test_the_web_is_read(tmp_path, name):
    (tmp_path / name).write_bytes(b"abc")
    with serve(tmp_path) as url:
        assert urls.content(str(Url(url) / name)) == b"abc"


def test_a_folder_is_known_by_its_slash_or_by_its_file_system(memory):
    memory.pipe_file("/in/a.pgm", b"x")
    assert urls.is_folder(Url("memory://in"))
    assert urls.is_folder(Url("memory://missing/"))
    assert not urls.is_folder(Url("memory://in/a.pgm"))
    # Without a request: nothing listens there.
    assert urls.is_folder(Url("http://127.0.0.1:1/in/"))
    assert not urls.is_folder(Url("http://127.0.0.1:1/in"))


def test_a_file_written_again_has_another_stamp(tmp_path, memory):
    for url in "memory://a.pgm", f"local://{tmp_path}/a.pgm":
        urls.store(url, [b"abc"])
        first = urls.stamp(url)
        assert first == urls.stamp(url)
        assert first[0] == 3
        urls.store(url, [b"abd"])
        assert urls.stamp(url) != first
    assert memory.exists("/a.pgm")


@pytest.mark.parametrize(
    ("entry", "same", "other"),
    [
        ({"ETag": "1"}, {"ETag": "1", "LastModified": "later"}, {"ETag": "2"}),
        ({"size": 1, "mtime": 5.0}, {"size": 1, "mtime": datetime.fromtimestamp(5, UTC)}, {"size": 1, "mtime": 6.0}),
        ({"size": None, "updated": "x"}, {"size": 0, "updated": "x"}, {"size": 1, "updated": "x"}),
        *(
            ({name: "1"}, {name: "1"}, {name: "2"})
            for name in ("etag", "md5Hash", "content_md5", "LastModified", "last_modified", "created")
        ),
    ],
)
def test_drivers_say_in_their_own_ways_what_has_changed(driver, entry, same, other):
    def stamp(info):
        driver.entry = info
        return urls.stamp("driver://a")

    assert stamp(entry) == stamp(same) != stamp(other)


# Folders


def listed(url):
    with urls.scandir(Url(url)) as entries:
        return {entry.name: entry for entry in entries}


def test_a_folder_is_listed(tmp_path, memory):
    for name in [*ODD, "deep/er/b.pgm", ".hidden"]:
        memory.pipe_file(f"/in/{name}", b"abc")
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"abc")
    for url in "memory://in", "memory://in/", f"local://{tmp_path}":
        found = listed(url)
        assert sorted(found) == sorted([*ODD, "deep", ".hidden"])
        assert [name for name, entry in found.items() if entry.is_dir()] == ["deep"]
        assert found["+.pgm"].stamp == urls.stamp(str(Url(url) / "+.pgm"))


def test_a_web_page_is_listed_by_its_links_in_one_request(tmp_path):
    for name in ODD:
        (tmp_path / name).write_bytes(b"abc")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep/b.pgm").touch()
    requests = []
    with serve(tmp_path, requests) as url:
        found = listed(url)
        assert list(listed(str(Url(url) / "deep"))) == ["b.pgm"]
    assert sorted(found) == sorted([*ODD, "deep"])
    assert [name for name, entry in found.items() if entry.is_dir()] == ["deep"]
    assert requests == ["/", "/deep/"]


def test_links_that_sort_a_web_page_or_lead_elsewhere_are_no_entries(tmp_path):
    links = "?C=M;O=A", "../", "/", "http://elsewhere.invalid/b.pgm", "a.pgm"
    (tmp_path / "index.html").write_text("".join(f'<a href="{link}">x</a>' for link in links))
    with serve(tmp_path) as url:
        assert list(listed(url)) == ["a.pgm"]


def test_a_folder_is_no_entry_of_its_own(driver):
    """Some object stores have an empty object for a folder, and list it."""
    driver.entries = [{"name": name, "size": 0, "type": "file"} for name in ("bucket/in/", "bucket/in/a.pgm")]
    assert list(listed("driver://bucket/in")) == list(listed("driver://bucket/in/")) == ["a.pgm"]


def test_a_listing_is_never_an_old_one(tmp_path):
    (tmp_path / "a.pgm").touch()
    with serve(tmp_path) as url:
        assert list(listed(url)) == ["a.pgm"]
        (tmp_path / "b.pgm").touch()
        assert sorted(listed(url)) == ["a.pgm", "b.pgm"]


# Errors


def test_what_is_missing_is_an_error_as_for_files(tmp_path):
    with serve(tmp_path) as web:
        for url in "memory://none.pgm", f"{web}none.pgm", f"local://{tmp_path}/none":
            for action in urls.content, urls.stamp:
                with pytest.raises(FileNotFoundError) as caught:
                    action(url)
                assert reason(caught.value) == "no such file or directory; check the name"
        for url in "memory://none/", f"{web}none/":
            with pytest.raises(FileNotFoundError):
                listed(url)


@pytest.mark.usefixtures("ordinary_user")
def test_missing_permissions_are_an_error_as_for_files(open_folder):
    (open_folder / "a.pgm").touch(0)
    with pytest.raises(PermissionError) as caught:
        urls.content(f"local://{open_folder}/a.pgm")
    assert reason(caught.value) == "permission denied; check its permissions and its folder's"


@pytest.mark.parametrize("failure", [RuntimeError("the key has expired\nask for another"), TimeoutError(), KeyError(7)])
def test_an_error_of_a_driver_is_one_line_and_names_the_scheme(driver, failure):
    driver.failure = failure
    with pytest.raises(OSError, match="settings of driver") as caught:
        urls.content("driver://a.pgm")
    cause = {RuntimeError: "the key has expired", TimeoutError: "TimeoutError", KeyError: "7"}[type(failure)]
    words = f"{cause}; check the URL and the settings of driver://"
    assert reason(caught.value) == caught.value.strerror == words


def test_what_a_driver_says_of_its_connections_is_no_line_of_the_program(capfd):
    """Connections that a server has left open are told to the loop of events, which writes it on standard error."""
    system, _ = urls._file_system("http://127.0.0.1/a")
    system.loop.call_exception_handler({"message": "Unclosed connection"})
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"status": 500, "message": "Internal Server Error"}, "500 Internal Server Error"),
        ({"status": 0, "message": ""}, "Answered"),
        ({"status": 400, "message": "Bad line:\n  b'x'"}, "400 Bad line:"),
        ({"message": object()}, "Answered"),
    ],
)
def test_an_answer_of_a_web_server_is_said_in_short(driver, values, said):
    driver.failure = type("Answered", (Exception,), values)("the URL again")
    with pytest.raises(OSError, match=re.escape(f"{said}; check the URL and the settings of driver://")):
        urls.content("driver://a")


def test_an_unknown_scheme_is_an_error():
    with pytest.raises(ParameterError) as caught:
        urls.content("nosuch://a/b.png")
    assert message(caught).startswith("nosuch://a/b.png: ")
    assert message(caught).endswith("; give a path, or a URL such as s3://bucket/folder/")


@pytest.mark.skipif(importlib.util.find_spec("s3fs") is not None, reason="s3fs is installed")
def test_a_missing_driver_is_named():
    with pytest.raises(ParameterError) as caught:
        urls.content("s3://bucket/a.png")
    command = f", with {sys.executable} -m pip install NAME"
    assert re.fullmatch(rf"s3://bucket/a\.png: needs another package: .*s3fs.*{re.escape(command)}", message(caught))


def test_without_fsspec_the_way_to_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(ParameterError, match=r"^memory://a.png: URLs need fsspec: .* 'fftfilter-opencl\[cluster\]'"):
        urls.content("memory://a.png")


def test_of_a_file_that_is_too_long_only_a_part_is_read(tmp_path):
    (tmp_path / "long").write_bytes(b"abcdef")
    assert urls.content(f"local://{tmp_path}/long", 4) == b"abcd"
