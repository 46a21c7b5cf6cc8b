"""The browser of the machine, which the tests in a browser use."""

import shutil

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def system_browser() -> str | None:
    """Return the path of the system's Chromium, None where there is none."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)
