#!/bin/sh
# Removes what make made and says how much disk that was. Runs and downloaded data are the user's work and stay.
set -eu
cd "$(dirname "$0")/.."

# Reads `du -sk` (kilobytes: the unit that BSD and GNU share) and prints the sum as MB or GB.
human() {
    awk '{ kb += $1 } END { if (kb < 1048576) printf "%.1f MB", kb / 1024; else printf "%.1f GB", kb / 1048576 }'
}

set --
for path in site .cache .venv .venv-sim .pytest_cache .ruff_cache ./*.egg-info .coverage .coverage.*; do
    # -h: a broken link exists too. A pattern without a match stays as it is and does not exist.
    if [ -e "$path" ] || [ -h "$path" ]; then set -- "$@" "$path"; fi
done
# shellcheck disable=SC2044  # these folders are the project's own: no spaces
for path in $(find snippets examples tools tests docs -name __pycache__ -type d -prune 2>/dev/null); do
    set -- "$@" "$path"
done

if [ $# -eq 0 ]; then
    echo "Nothing to remove."
else
    freed=$(du -sk "$@" | human)
    names=$(printf '%s\n' "$@" | sed 's|^\./||; s|.*/__pycache__$|__pycache__|' | sort -u | tr '\n' ' ')
    rm -rf "$@"
    echo "Removed $freed: $names"
fi
for path in runs data; do
    if [ -e "$path" ]; then echo "Kept $path/ ($(du -sk "$path" | human)): your work. Delete it yourself if you want to."; fi
done
