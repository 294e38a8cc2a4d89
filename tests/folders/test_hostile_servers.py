"""Runs on servers that name files as they like, have no end, or send more than they are asked for."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zlib
from functools import partial
from urllib.parse import quote

import pytest
from PIL import Image

from fftfilter.files import urls
from tests.files.helpers import links, web
from tests.folders.helpers import names
from tests.helpers import needs_links

fsspec = pytest.importorskip("fsspec")
pytest.importorskip("aiohttp")


def png(mode="L"):
    """Return a small picture as a file."""
    with io.BytesIO() as file:
        Image.linear_gradient("L").resize((12, 10)).convert(mode).save(file, "PNG")
        return file.getvalue()


PICTURE = {}, [png()]


def run(*arguments, folder, name="lowpass", **options):
    """Run a filter as a process in a folder; return its exit code and what it said."""
    command = [sys.executable, "-m", "fftfilter", name, *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False, **options)
    assert "Traceback" not in done.stderr or arguments[:2] == ("-v", "-v")
    assert "internal error" not in done.stderr
    return done.returncode, done.stderr


@pytest.fixture
def place(tmp_path):
    """A folder to run in, and a picture outside of it that shall stay."""
    (tmp_path / "private").mkdir()
    (tmp_path / "private/thesis.png").write_bytes(b"a thesis")
    (tmp_path / "job").mkdir()
    yield tmp_path / "job"
    assert (tmp_path / "private/thesis.png").read_bytes() == b"a thesis"
    assert names(tmp_path / "private") == ["thesis.png"]


def bad_names(place):
    thesis = str(place.parent / "private/thesis.png")
    up = "x%2F..%2F..%2F..%2Fprivate%2Fnew.png"
    return [
        quote(thesis, safe=""),
        up,
        up.replace("%", "%25"),
        "good2.png%2F..%2F..%2F..%2Fprivate%2Fnew.png",
        "..%2F..%2Fprivate%2Fthesis.png",
        "..%5C..%5Cprivate%5Cthesis.png",
        "%2e%2e/",
        "a%00.png",
        "a%0A.png",
    ]


def test_links_of_a_page_write_nothing_outside_of_the_output(place):
    pages = {"/dir/": links("good.png", *bad_names(place), "&#46;&#46;%2Fx.png"), "/dir/sub/": links("ok.png")}
    pages["/dir/"][1].append(b'<a href="sub/">x</a><a href="//127.0.0.1:1/dir/x.png">x</a><a href="http://[">x</a>')
    with web(lambda path: pages.get(path, PICTURE)) as (url, _):
        code, said = run("-r", f"{url}/dir/", "out/", folder=place)
        assert run("-r", f"{url}/dir/", folder=place, name="peaks")[0] == 1
        listed = run("-n", "-r", f"{url}/dir/", "other/", folder=place)
    assert (listed[0], listed[1].count("\n"), "10 of its names" in listed[1]) == (1, 1, True), listed
    assert (code, said.count("\n")) == (1, 2), said
    assert said.startswith(f"fftfilter: {url}/dir/: 10 of its names are not those of files, such as ")
    assert names(place) == ["out/good.png", "out/sub/ok.png"]


@pytest.mark.parametrize("number", [0, 1, 2, 3, 4, 5, 7, 8])
def test_a_url_among_several_whose_name_leads_elsewhere_is_refused(place, number):
    with web(lambda _: PICTURE) as (url, _):
        code, said = run(f"{url}/a.png", f"{url}/{bad_names(place)[number]}", "out/", folder=place)
    assert (code, said.count("\n"), "is no name of a file" in said) == (2, 1, True), said
    assert names(place) == []


def test_names_of_object_stores_lead_nowhere_else(place):
    """In a process of its own, as memory:// is a process's."""
    code = f"""
import sys, fsspec
from fftfilter.cli import cli
system = fsspec.filesystem("memory")
for name in ("good.png", "sub/ok.png", "a\\\\..\\\\..\\\\b.png", "x%2F..%2F..%2Fy.png", "a\\n.png"):
    system.pipe_file("/in/" + name, {png()!r})
cli(["lowpass", "-r", "memory://in/", "out/"])
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=place, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (1, 2), done.stderr
    assert "memory://in/: 3 of its names are not those of files" in done.stderr
    assert names(place) == ["out/good.png", "out/sub/ok.png"]


@needs_links
def test_no_link_in_the_output_leads_a_name_of_a_server_out_of_it(place):
    pages = {"/dir/": links("thesis.png", "b.png", "sub/"), "/dir/sub/": links("thesis.png")}
    (place / "out").mkdir()
    (place / "out/thesis.png").symlink_to(place.parent / "private/thesis.png")
    (place / "out/b.png").symlink_to("c.png")  # which stays inside
    with web(lambda path: pages.get(path, PICTURE)) as (url, _):
        code, said = run(f"{url}/dir/", "out/", folder=place)
        assert (code, said.count("\n")) == (1, 2), said
        assert "out/thesis.png: is, or lies behind, a link that leads out of OUT: remove it" in said
        assert names(place) == ["out/b.png", "out/c.png", "out/thesis.png"]
        code, said = run(f"{url}/dir/", f"local://{place}/out/", folder=place)
        assert (code, said.count("\n"), "thesis.png: is, or lies behind, a link" in said) == (1, 2, True), said
        (place / "out/thesis.png").unlink()
        (place / "out/sub").symlink_to(place.parent / "private")
        code, said = run("-r", f"{url}/dir/", "out/", folder=place)
        assert (code, said.count("\n"), "out/sub: is, or lies behind, a link" in said) == (2, 1, True), said


SELF = "./ ../ /self/ #a/ ?a/ //{0}/self/ /self /self/../self/ a.png ./a.png http://{0}/self/a.png"


def test_a_page_that_lists_itself_ends(place):
    with web(lambda path: links(*SELF.format(host[0]).split()) if path == "/self/" else PICTURE) as (url, sent):
        host = [url.removeprefix("http://")]
        assert run("-r", f"{url}/self/", "out/", folder=place)[0] == 0
    assert names(place) == ["out/a.png"]
    assert len(sent) == 3  # the page twice, the picture once


@pytest.mark.parametrize("name", ["lowpass", "peaks"])
@pytest.mark.parametrize("page", [("a/",), ("a/", "b/", "p.png")], ids=len)
def test_folders_without_end_are_refused_before_anything_is_written(place, name, page):
    with web(lambda path: links(*page) if path.endswith("/") else PICTURE) as (url, sent):
        code, said = run("-r", f"{url}/tree/", *(["out/"] if name == "lowpass" else []), folder=place, name=name)
    assert (code, said.count("\n")) == (1, 1), said
    assert said.endswith("a/a/a': give one of them, or leave -r out\n")
    assert len(sent) < 40
    assert names(place) == []


def test_a_page_that_leads_back_to_itself_by_redirection_ends(place):
    """As a link of a file system to the folder that it is in does behind a server."""
    with web(lambda path: links("again/", "p.png") if path.endswith("/") else PICTURE) as (url, _):
        code, said = run("-r", f"{url}/", "out/", folder=place)
    assert (code, said.count("\n"), "leave -r out" in said) == (1, 1, True), said


def endless():
    """Yield 4 GB."""
    yield png()
    yield from (bytes(1 << 20) for _ in range(4000))


def packed():
    """Yield the same, packed."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    yield from map(packer.compress, endless())


ENDLESS = {
    "a file": ({}, endless),
    "a length": ({"Content-Length": str(4001 << 20)}, endless),
    "packed": ({"Content-Encoding": "gzip"}, packed),
}


@pytest.mark.parametrize("kind", ENDLESS)
def test_no_more_is_read_of_a_server_than_is_allowed(place, kind):
    """The server sends all to those who ask for a part. The process has no memory for all."""
    headers, parts = ENDLESS[kind]

    def bounded():
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (1 << 31, 1 << 31))

    limit = None if os.name == "nt" else bounded
    with web(lambda _: (headers, parts())) as (url, sent):
        code, said = run("--input-limit", "1000000", f"{url}/a.png", "out.png", folder=place, preexec_fn=limit)
        line = f"fftfilter: {url}/a.png: has more than 1,000,000 bytes; --input-limit sets another limit\n"
        assert (code, said) == (1, line)
        assert sum(sent) < 200 << 20
        code, said = run(f"{url}/dir/", "out/", folder=place, preexec_fn=limit)  # as a page of links
        assert (code, said.count("\n"), "its page of links has more than" in said) == (1, 1, True), said
    assert names(place) == []


def test_a_part_of_each_driver_is_read(tmp_path):
    data = bytes(range(256)) * 100
    (tmp_path / "a").write_bytes(data)
    fsspec.filesystem("memory").pipe_file("/a", data)
    with web(lambda _: ({}, [data[:9000], data[9000:]])) as (url, _):
        for each in f"{url}/a", "memory://a", f"local://{tmp_path}/a":
            assert [urls.content(each, most) for most in (0, 1, 9001)] == [b"", data[:1], data[:9001]]
            assert urls.content(each) == urls.content(each, len(data)) == data


def test_a_page_that_is_hard_to_read_is_read(place):
    page = (
        "<a " * 100_000
        + '<a href="' * 50_000
        + "<a href='x" * 50_000
        + "<a "
        + "href " * 200_000
        + "<a href"
        + " " * 10**6
    )
    with web(lambda path: ({}, [page.encode(), b"<A class=b HREF=good.png>"]) if path == "/" else PICTURE) as (url, _):
        code, said = run(f"{url}/", "out/", folder=place)
    assert code == 0, said
    assert names(place) == ["out/good.png"]


def test_passwords_and_signatures_are_in_no_line_report_journal_or_page(place):
    secret = ("geheim", "abc123")
    with web(lambda path: links("a.png") if path == "/dir/" else PICTURE) as (url, _):
        own = url.replace("//", "//me:geheim@")
        asked = partial(run, folder=place)
        said = [
            asked("-v", "-v", "--report", "r.jsonl", f"{own}/dir/", "out/"),
            asked("-v", "--report", "s.jsonl", f"{own}/a.png?X-Amz-Signature=abc123", f"{own}/b.png", "out2/"),
            asked("-n", f"{own}/dir/", "out/"),
            asked("--preview", "p.png", "--region", f"{own}/m.png?sig=abc123", f"{own}/a.png?token=abc123", "out.png"),
            asked("--embed-recipe", "--output", "keep", "--region", f"{own}/m?sig=abc123", f"{url}/a.png", "e.png"),
            asked(f"{own}/a.png?token=abc123", name="peaks"),
        ]
    said += [asked("-v", "-v", gone, "out3/") for gone in (f"{own}/a.png?token=abc123", f"{own}/dir/")]
    said += [
        asked("-v", "-v", f"ftp://me:geheim@127.0.0.1:1{each}?sig=abc123", "out3/") for each in ("/a.png", "/dir/")
    ]
    said = "".join(each for _, each in said)
    assert "http://***@127.0.0.1" in said
    told = [said, *(path.read_bytes().decode("latin-1") for path in place.rglob("*") if path.is_file())]
    assert not [each for each in told for word in secret if word in each]
    assert json.loads((place / "s.jsonl").read_text().splitlines()[0])["input"].endswith("/a.png?***")
    assert sorted(names(place)) == ["out/a.png", "out2/a.png", "out2/b.png", "r.jsonl", "s.jsonl"]
