#!/bin/sh
# Prints the path of a Python that can make this project's environment, or one line with the cure (exit 2).
#
# With PYTHON set, only that one is tried: a choice that cannot be honoured is an error, not a hint.
# Every candidate is really run: pyenv leaves commands that exist and fail, macOS ships a `python3` that is too old
# or only offers to install Xcode's tools, and Debian packages Python without `ensurepip`.
# Plain sh, so that it runs in macOS' bash 3.2 as well as in dash.
set -u
incomplete=no

NEEDS="This needs Python 3.11.5 or newer"  # pymdown-extensions 13.1 needs 3.11.5

# The program is run by whatever "python" turns out to be, Python 2 included: old syntax only.
# shellcheck disable=SC2016  # the backquotes in it are Python's comment
PROBE='
import platform, sys
version = ".".join(str(part) for part in sys.version_info[:3])
try:
    import ensurepip, venv
    modules = "complete"
except ImportError:
    modules = "incomplete"
new_enough = "new" if tuple(sys.version_info[:3]) >= (3, 11, 5) else "old"
# The interpreter below a virtual environment: `.venv` may be activated and about to be made again.
path = getattr(sys, "_base_executable", None) or sys.executable
print(" ".join(["probe", version, new_enough, modules, platform.machine(), path]))
'

on_apple_silicon() {
    # hw.optional.arm64 is 1 on Apple silicon even in a shell that runs under Rosetta, where uname says x86_64.
    [ "$(uname -s)" = Darwin ] && [ "$(sysctl -n hw.optional.arm64 2>/dev/null)" = 1 ]
}

# Sets `path` and returns 0 for a usable candidate; else sets `fault` to the reason.
try() {
    fault="" path=""
    report=$("$1" -c "$PROBE" 2>/dev/null </dev/null) || { fault="cannot be run"; return 1; }
    case "$report" in
        "probe "*) ;;
        *) fault="is not a Python"; return 1 ;;
    esac
    # The path comes last since it may hold spaces.
    read -r _ version age modules machine path <<REPORT
$report
REPORT
    if [ "$age" = old ]; then
        fault="found $version at $path"
    elif on_apple_silicon && [ "$machine" != arm64 ]; then
        fault="found $version at $path, which runs as $machine under Rosetta and has no MPS"
    elif [ "$modules" = incomplete ]; then
        fault="found $version at $path without the modules venv and ensurepip" incomplete=yes
    else
        return 0
    fi
    return 1
}

cure() {
    if [ "$(uname -s)" = Darwin ]; then
        # Typed in a Rosetta terminal, a bare `brew` may be the Intel one.
        if on_apple_silicon && [ "$(uname -m)" != arm64 ]; then
            echo "Open a terminal without Rosetta, install one with \`/opt/homebrew/bin/brew install python@3.13\`"
        else
            echo "Install one, e.g. \`brew install python@3.13\`"
        fi
    elif [ "$incomplete" = yes ]; then
        echo "Install them, on Debian and Ubuntu with \`apt-get install python3-venv\` (as root)"
    else
        echo "Install one, e.g. \`apt-get install python3 python3-venv\` on Debian 13 or Ubuntu 24.04 (as root)"
    fi
}

if [ -n "${PYTHON:-}" ]; then
    if command -v "$PYTHON" >/dev/null 2>&1; then
        try "$PYTHON" && { echo "$path"; exit 0; }
        [ -n "$path" ] || fault="PYTHON=$PYTHON $fault"
    else
        fault="PYTHON=$PYTHON does not exist"
    fi
    echo "$NEEDS; $fault. $(cure), or unset PYTHON, then run make again." >&2
    exit 2
fi

first_fault=""
# 3.13 first: the version with the most wheels today.
for name in python3.13 python3.12 python3.14 python3.11 python3 python; do
    command -v "$name" >/dev/null 2>&1 || continue
    try "$name" && { echo "$path"; exit 0; }
    # The reason worth telling is that of a Python that ran, not that of an empty pyenv command.
    [ -n "$path" ] && [ -z "$first_fault" ] && first_fault=$fault
done
echo "$NEEDS; ${first_fault:-found none}. $(cure), then run make again." >&2
exit 2
