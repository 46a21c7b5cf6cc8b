"""What is done to the theme's search after a build; that it then finds numbers, a browser test shows."""

import pytest

from tools.build_site import WRITTEN_ALIKE, WRITTEN_APART, BuildFailed, repair_search


@pytest.fixture
def site(tmp_path):
    worker = tmp_path / "assets/javascripts/workers/search.0a1b.min.js"
    worker.parent.mkdir(parents=True)
    worker.write_text(f"for(;;){{{WRITTEN_ALIKE}return e", encoding="utf-8")
    return tmp_path, worker


def test_branches_are_written_apart(site):
    folder, worker = site
    repair_search(folder)
    assert worker.read_text(encoding="utf-8") == f"for(;;){{{WRITTEN_APART}return e"


def test_another_search_is_not_published_unseen(site):
    folder, worker = site
    worker.write_text("for(;;){e=e+s}return e", encoding="utf-8")
    with pytest.raises(BuildFailed, match="the theme's search has changed"):
        repair_search(folder)
