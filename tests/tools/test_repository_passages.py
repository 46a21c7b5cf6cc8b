"""What a page says with and without the address of the repository."""

import pytest

from tools.repository_passages import passages_for, repository_address, with_addresses

PAGE = """\
Get it.

<!-- with repository -->
Clone it.
<!-- without repository -->
Download it.
<!-- end repository -->
Run it.

<!-- with repository -->
Look at $REPO_URL.
<!-- end repository -->"""


def test_a_page_keeps_the_passages_of_its_case():
    assert passages_for(PAGE, "https://example.org/a") == (
        "Get it.\n\nClone it.\nRun it.\n\nLook at $REPO_URL."
    )
    assert passages_for(PAGE, "") == "Get it.\n\nDownload it.\nRun it.\n"


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ("<!-- with repository -->\nLook", "Look", r"line 11: .*end.* cannot follow <!-- end"),
        ("Download it.\n<!-- end repository -->", "", r"line 9: .*with .* cannot follow <!-- without"),
        (
            "repository -->\nDownload",
            "repository -->\n<!-- with repository -->\n",
            "cannot follow <!-- without",
        ),
        ("$REPO_URL.\n<!-- end repository -->", "", "<!-- with repository --> needs <!-- end repository -->"),
    ],
)
def test_a_wrong_mark_is_named(old, new, wrong):
    assert PAGE.count(old) == 1
    with pytest.raises(ValueError, match=wrong):
        passages_for(PAGE.replace(old, new), "")


def test_address_is_filled_into_commands_and_text():
    command = 'git clone "$REPO_URL" b\npip install "git+$REPO_URL#subdirectory=c"'
    address = "https://example.org/a"
    assert with_addresses(command, address, "") == (
        f'git clone {address} b\npip install "git+{address}#subdirectory=c"'
    )
    assert with_addresses('curl -LO "$SITE_URL"a.zip', "", f"{address}/") == f"curl -LO {address}/a.zip"
    with pytest.raises(ValueError, match="is not known"):
        with_addresses(command, "", address)


def test_the_environment_gives_the_address(monkeypatch):
    monkeypatch.setenv("REPO_URL", "https://example.org/a/")
    assert repository_address() == "https://example.org/a"
    monkeypatch.delenv("REPO_URL")
    assert repository_address() == ""


def test_the_path_is_what_follows_the_host():
    badge = "https://example.org/github/$REPO_PATH/blob"
    assert with_addresses(badge, "https://example.net/a/b", "") == "https://example.org/github/a/b/blob"
    with pytest.raises(ValueError, match="is not known"):
        with_addresses(badge, "", "")
