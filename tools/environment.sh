#!/bin/sh
# Makes and updates the project's environment .venv. Usage: tools/environment.sh site|examples|dev
#
#   site      what building and serving the pages needs (no PyTorch)
#   examples  PyTorch and what the training examples need
#   dev       both, and what tests and linters need
#
# TORCH_INDEX_URL names an index that torch and torchvision come from; empty means the usual one. Without it, Linux
# machines with no NVIDIA GPU take PyTorch's builds for CPUs, a tenth of the size, when their index can be reached.
#
# The stamp .venv/.<name> is a copy of the files that were installed from, written only after everything succeeded: an
# interrupted installation is repeated, and switching branches installs again exactly when the pins differ.
# Plain sh, so that it runs in macOS' bash 3.2 as well as in dash.
set -eu
cd "$(dirname "$0")/.."

VENV=.venv
PY=$VENV/bin/python
CPU_INDEX=https://download.pytorch.org/whl/cpu

say() { echo "mps-handbook: $*" >&2; }

pins() {
    case "$1" in
        site) echo "site" ;;
        examples) echo "examples" ;;
        dev) echo "site examples dev" ;;
        *) say "unknown environment '$1'; choose site, examples or dev"; exit 2 ;;
    esac
}

# What the stamp holds: the folder (scripts in .venv/bin name it, so a moved clone needs a new one) and the pins.
wanted() {
    pwd -P
    cat requirements/pip.txt pyproject.toml
    for pin in $1; do cat "requirements/$pin.txt"; done
}

# Why .venv cannot be used, or nothing. One that somebody else made (an editor, say) is used as long as it works.
defect() {
    [ ! -e "$VENV/.making" ] || { echo "it is only half made"; return; }
    "$PY" -c '' 2>/dev/null </dev/null || { echo "its Python does not run"; return; }
    "$PY" -c 'import sys; sys.exit(sys.version_info < (3, 11, 5))' || { echo "its Python is too old"; return; }
    if [ -f "$VENV/.made" ]; then
        [ "$(cat "$VENV/.made")" = "$(pwd -P)" ] || echo "it was made in $(cat "$VENV/.made")"
    else
        "$PY" -m pip --version >/dev/null 2>&1 || echo "it has no pip"
    fi
}

# torch and torchvision from $1, an index of PyTorch's builds, and nothing else from there.
install_pytorch() {
    sed -n -e '/^torch==/p' -e '/^torchvision==/p' requirements/examples.txt > "$VENV/torch.txt"
    "$PY" -m pip install --disable-pip-version-check --retries 1 --no-deps --index-url "$1" -r "$VENV/torch.txt"
}

without_gpu() {
    [ "$(uname -s) $(uname -m)" = "Linux x86_64" ] && ! command -v nvidia-smi >/dev/null 2>&1
}

make_venv() {
    if [ -e "$VENV" ] || [ -h "$VENV" ]; then
        problem=$(defect)
        if [ -z "$problem" ]; then
            [ -f "$VENV/.made" ] || pwd -P > "$VENV/.made"
            return 0
        fi
        say "making .venv again: $problem"
    fi
    # Found before anything is removed: without a suitable Python the old environment stays as it is.
    python=$(tools/find_python.sh) || exit 2
    say "making .venv with $("$python" --version) ($python)"
    rm -rf "$VENV"
    mkdir "$VENV"
    : > "$VENV/.making"
    "$python" -m venv "$VENV"
    pwd -P > "$VENV/.made"
    rm "$VENV/.making"
}

install() {
    name=$1
    stamp=$VENV/.$name
    files=$(pins "$name")
    if wanted "$files" | cmp -s - "$stamp" 2>/dev/null; then
        return 0
    fi
    rm -f "$stamp"
    case "$name" in
        site) say "installing what the site needs (about 300 MB, once)"; quiet=-qq ;;
        *) say "installing PyTorch and the other packages (once; on Linux x86-64 its CUDA build takes about 5 GB)"; quiet= ;;
    esac
    "$PY" -m pip install -qq --disable-pip-version-check -r requirements/pip.txt
    # What is then there meets its pin below.
    if [ "$name" != site ] && [ -n "${TORCH_INDEX_URL:-}" ]; then
        install_pytorch "$TORCH_INDEX_URL"
    elif [ "$name" != site ] && [ -z "${TORCH_INDEX_URL+set}" ] && without_gpu; then
        install_pytorch "$CPU_INDEX" 2>/dev/null ||
            say "no NVIDIA GPU here, but $CPU_INDEX cannot be reached: taking the CUDA build"
    fi
    set -- --disable-pip-version-check $quiet
    for pin in $files; do set -- "$@" -r "requirements/$pin.txt"; done
    "$PY" -m pip install "$@"
    # setuptools is pinned in pip.txt, so nothing unpinned is downloaded to build the project itself.
    "$PY" -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e .
    wanted "$files" > "$stamp.part"
    mv "$stamp.part" "$stamp"
}

[ $# -eq 1 ] || { say "usage: tools/environment.sh site|examples|dev"; exit 2; }
pins "$1" >/dev/null
make_venv
finished=no
trap '[ $finished = yes ] || say "$VENV is not complete, see above; the same command goes on from here"' EXIT
install "$1"
finished=yes
