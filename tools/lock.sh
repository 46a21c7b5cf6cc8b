#!/bin/sh
# Writes requirements/{site,examples,dev}.txt again from the ranges in pyproject.toml, newest versions first.
# The three files share one resolution, so that they can be installed together; markers keep them valid on Linux and
# macOS and for every Python from 3.11.5. requirements/pip.txt (pip and setuptools themselves) is edited by hand.
set -eu
cd "$(dirname "$0")/.."

UV=.venv/bin/uv
[ -x "$UV" ] || .venv/bin/python -m pip install --quiet --disable-pip-version-check uv

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Addresses of indexes stay out of the files: they differ from machine to machine.
resolve() {
    "$UV" pip compile --quiet --universal --python-version 3.11.5 --no-header --no-annotate \
        --no-emit-index-url --no-emit-find-links --output-file "$work/out.txt" "$@" pyproject.toml >/dev/null
}

resolve --extra site --extra examples --extra dev
mv "$work/out.txt" "$work/all.txt"
for extra in site examples dev; do
    resolve --extra "$extra" --constraint "$work/all.txt"
    # torch pins its CUDA libraries itself, and only its CUDA build wants them.
    sed '/^nvidia-/d; /^cuda-/d; /^triton/d' "$work/out.txt" > "$work/$extra.txt"
    rm "$work/out.txt"
done
# All or nothing: three files of one resolution.
for extra in site examples dev; do
    mv "$work/$extra.txt" "requirements/$extra.txt"
done
echo "Written: requirements/site.txt, examples.txt, dev.txt. Run make test before you commit them."
