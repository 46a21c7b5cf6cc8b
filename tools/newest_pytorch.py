"""Install the newest PyTorch here, print what was really installed, and fail if it is not the newest.

pip is content with an older version when the newest does not fit this Python or this torchvision, and a test
run "on the newest PyTorch" that tested last month's is worse than none.
"""

import argparse
import json
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path

from packaging.version import Version

INDEX = {
    "stable": "https://download.pytorch.org/whl/cpu",
    "nightly": "https://download.pytorch.org/whl/nightly/cpu",
}
# torch and torchvision are built separately every night; pip takes the newest pair that fits.
NIGHTLY_MAY_BE_OLDER = timedelta(days=7)


def pip_options(channel: str) -> list[str]:
    """Return pip's options for a channel, "stable" or "nightly"."""
    return ["--index-url", INDEX[channel], *(["--pre"] if channel == "nightly" else [])]


def newest_version(channel: str) -> str:
    """Ask the index for the newest torch for this Python and system. Raises CalledProcessError.

    Isolated: with the other indexes of the configuration, an unreachable one would pass for an old one.
    """
    pip = [sys.executable, "-m", "pip", "--isolated"]
    command = [*pip, "index", "versions", "torch", "--json", *pip_options(channel)]
    answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    return json.loads(answer)["latest"]


def installed_versions() -> dict[str, str]:
    """Import both packages in a fresh Python and return their versions. Raises CalledProcessError."""
    program = (
        "import json, torch, torchvision; "
        "print(json.dumps({'torch': torch.__version__, 'torchvision': torchvision.__version__, "
        "'commit': torch.version.git_version}))"
    )
    command = [sys.executable, "-c", program]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)


def shortfall(channel: str, installed: str, newest: str) -> str | None:
    """Return why the installed version is not the wanted one, or None.

    stable: the release that the index names as its newest. nightly: a development version at most
    NIGHTLY_MAY_BE_OLDER behind the index's newest. Builds of one version ("+cpu") count as the same.
    """
    have, want = Version(installed), Version(newest)
    if channel == "stable":
        if have.public == want.public:
            return None
        return f"installed is torch {installed}, but the newest release is {newest}"
    if have.dev is None or want.dev is None:
        return f"wanted a nightly torch, but installed is {installed} and the index's newest is {newest}"
    age = _date(want) - _date(have)
    if age > NIGHTLY_MAY_BE_OLDER:
        return f"installed is torch {installed}, {age.days} days behind the newest nightly {newest}"
    return None


def _date(nightly: Version) -> datetime:
    """Return the day in a version such as 2.16.0.dev20261118."""
    return datetime.strptime(str(nightly.dev), "%Y%m%d")


def main() -> int:
    """Install, print and compare; exit code 1 when the newest version was not installed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("channel", choices=sorted(INDEX))
    parser.add_argument("--summary", type=Path, help="append the versions to this Markdown file")
    options = parser.parse_args()
    install = [sys.executable, "-m", "pip", "install", "--upgrade", *pip_options(options.channel)]
    try:
        subprocess.run([*install, "torch", "torchvision"], check=True)
        newest = newest_version(options.channel)
        installed = installed_versions()
    except subprocess.CalledProcessError as error:
        what = " ".join(error.cmd[1:4])
        print(f"error: python {what} ... failed with {error.returncode}, see above", file=sys.stderr)
        return 1
    lines = [f"{name}: {version}" for name, version in installed.items()]
    problem = shortfall(options.channel, installed["torch"], newest)
    lines.append(
        f"NOT the newest: {problem}" if problem else f"newest {options.channel} in the index: {newest}"
    )
    print("\n".join(lines))
    if options.summary:
        with options.summary.open("a", encoding="utf-8") as summary:
            summary.write("".join(f"- {line}\n" for line in lines))
    return 1 if problem else 0


if __name__ == "__main__":
    sys.exit(main())
