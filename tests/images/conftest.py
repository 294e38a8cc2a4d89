"""A user whom permissions stop, as for the tests of files."""

from tests.files.conftest import open_folder, ordinary_user  # noqa: F401
