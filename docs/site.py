"""Hook of mkdocs.yml: makes one site of the documents where they are, without copies.

The README is the first page. A link that leaves docs/ leads to a page of the site, made of the file that it names.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File, Files

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
# Documents beside docs/, and their pages.
PAGES = {"README.md": "index.md", "samples/README.md": "samples.md"}
PAGES |= {f"{name}.md": f"{name.lower()}.md" for name in ("CONTRIBUTING", "CHANGELOG", "SECURITY")}
LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)#\s]+)")
LANGUAGES = {".py": "python", ".cl": "c", ".js": "javascript", ".css": "css", ".html": "html", ".toml": "toml"}
LANGUAGES |= {".yml": "yaml", ".cff": "yaml"}


def slug(heading: str, separator: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", separator)


def home(target: Path) -> str:
    """Return where a file or folder of the repository is on the site."""
    if target.is_relative_to(DOCS) and target.suffix not in {"", ".py"}:
        return target.relative_to(DOCS).as_posix()
    name = target.relative_to(ROOT).as_posix()
    return PAGES.get(name, f"source/{name}.md")


def content(target: Path) -> str:
    """Return the page of a file of the sources, or of a folder."""
    text = f"---\nsearch:\n  exclude: true\n---\n\n# {target.relative_to(ROOT).as_posix()}\n\n"
    if not target.is_dir():
        language = LANGUAGES.get(target.suffix, "text")
        return f"{text}````{language}\n{target.read_text(encoding='utf-8')}````\n"
    start = os.path.dirname(home(target))  # noqa: PTH120  a URI
    each = ((file.relative_to(target).as_posix(), os.path.relpath(home(file), start)) for file in files_of(target))
    return text + "".join(f"- [{name}]({link})\n" for name, link in each)


def files_of(folder: Path) -> list[Path]:
    """Return the files below a folder that have pages."""
    return [file for file in sorted(folder.rglob("*")) if file.suffix in {*LANGUAGES, ".md"}]


def links(document: Path) -> list[Path]:
    """Return the files that a document links to."""
    return [(document.parent / link).resolve() for link in LINK.findall(document.read_text(encoding="utf-8"))]


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Give headings the anchors that the documents' links have on GitHub."""
    config.mdx_configs["toc"]["slugify"] = slug
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the documents beside docs/, and a page for each file of the sources that a document links to."""
    beside = [ROOT / name for name in PAGES]
    for document in beside:
        files.append(File.generated(config, home(document), abs_src_path=str(document)))
    linked = {target for document in [*beside, *DOCS.rglob("*.md")] for target in links(document)}
    linked |= {file for target in linked for file in files_of(target)}
    for target in sorted(linked - set(beside)):
        if target.exists() and home(target).startswith("source/"):
            files.append(File.generated(config, home(target), content=content(target)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Lead the links of a document to the site's pages; a link to a file that is not there stays, and is warned of."""
    if page.file.abs_src_path is None or page.file.src_uri.startswith("source/"):
        return markdown
    here = Path(page.file.abs_src_path).parent
    start = os.path.dirname(page.file.src_uri)  # noqa: PTH120  a URI

    def moved(link: re.Match[str]) -> str:
        target = (here / link[1]).resolve()
        return os.path.relpath(home(target), start or ".") if target.exists() else link[1]

    # Links to versions lead to GitHub, from the changelog there.
    markdown = re.sub(r"^\[[\d.]+\]: \.\./.*\n?", "", markdown, flags=re.MULTILINE)
    markdown = re.sub(r"^## \[([\d.]+)\]", r"## \1", markdown, flags=re.MULTILINE)
    return LINK.sub(moved, markdown)
