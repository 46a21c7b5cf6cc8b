"""A download is saved whole, from a page that was opened and from one that instant navigation has fetched."""

import pytest

from tools.repository_passages import repository_address

PAGES = ("start/first-run/", "zh/start/first-run/")
NAMES = ["first_run.py", "cifar_optimizers.zip", *([] if repository_address() else ["mps-handbook.zip"])]
# The page that was loaded as a whole stays known to the window until another one is.
FIRST = "window.first = location.pathname.split('/').at(-2)"


@pytest.mark.parametrize("page_address", PAGES)
@pytest.mark.parametrize("instant", [False, True], ids=["opened", "instant"])
def test_a_download_is_saved(browser, built_site, site_url, page_address, instant):
    context = browser.new_context(accept_downloads=True)
    page = context.new_page()
    page.add_init_script(FIRST)
    if instant:
        page.goto(site_url + page_address.replace("first-run", "check-setup"), wait_until="networkidle")
        page.locator("nav.md-nav--primary a[href$='first-run/']").click()
        page.wait_for_url(site_url + page_address)
    else:
        page.goto(site_url + page_address, wait_until="networkidle")
    assert page.evaluate("window.first") == ("check-setup" if instant else "first-run")
    for name in NAMES:
        link = page.locator(f"article a[href$='downloads/{name}']")
        with page.expect_download() as saved:
            link.click()
        assert saved.value.suggested_filename == name
        assert saved.value.path().read_bytes() == (built_site / "downloads" / name).read_bytes()
        assert page.url == site_url + page_address
    context.close()
