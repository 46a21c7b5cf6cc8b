"""The version of macOS, also in a Python that was built for an older one."""

import os
import platform
import subprocess


def macos_version() -> str:
    """Return the version of macOS, such as "26.1"; "" on other systems.

    macOS 26 tells programs built for an older one that it is 16, and still older programs that it is 10.16.
    platform.mac_ver() passes that on; sw_vers belongs to the system and does not, with this variable.
    """
    told = platform.mac_ver()[0]
    if not told:
        return ""
    environment = os.environ | {"SYSTEM_VERSION_COMPAT": "0"}
    command = ["sw_vers", "-productVersion"]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):  # a sandbox may forbid it
        return told
    return done.stdout.strip() or told
