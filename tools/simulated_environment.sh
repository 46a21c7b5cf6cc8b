#!/bin/sh
# Makes and updates .venv-sim, in which PyTorch is a build without CUDA and holds the simulated MPS device
# (tests/simulated_mps). All other packages are those of .venv, which must be complete.
#
# On a Mac there is nothing to do: it has the real device. As in tools/environment.sh, the stamp is a copy of what was
# installed from, written only after everything succeeded.
#
# The device is compiled here, too, and on every call, since it is kept in the user's cache and not in .venv-sim: where
# the cache was emptied, the compiler would otherwise start inside a test or a recording and report there.
set -eu
cd "$(dirname "$0")/.."

VENV=.venv-sim
PY=$VENV/bin/python
STAMP=$VENV/.sim
CPU_INDEX=https://download.pytorch.org/whl/cpu

say() { echo "mps-handbook: $*" >&2; }

wanted() {
    pwd -P
    cat .venv/.dev requirements/sim.txt
}

# Not every package index has builds without CUDA; PyTorch's own has. It is asked second, since it may be out of reach.
install_pytorch() {
    "$PY" -m pip install -qq --disable-pip-version-check --no-deps "$@" -r requirements/sim.txt
}

# Installing the device would bring its pytest plugin with it, which the tests load by name. This is the other half.
register_device() {
    own=$("$PY" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    mkdir -p "$own/simulated_mps-0.dist-info"
    printf 'Name: simulated_mps\nVersion: 0\n' >"$own/simulated_mps-0.dist-info/METADATA"
    printf '[torch.backends]\nsimulated_mps = simulated_mps_autoload:enable_if_asked\n' \
        >"$own/simulated_mps-0.dist-info/entry_points.txt"
}

compile_device() {
    "$PY" -m simulated_mps --compile >/dev/null
}

[ "$(uname -s)" != Darwin ] || exit 0
if wanted | cmp -s - "$STAMP" 2>/dev/null; then
    register_device
    compile_device
    exit 0
fi
say "making .venv-sim: PyTorch without CUDA, for the simulated MPS device (about 700 MB, once)"
rm -rf "$VENV"
.venv/bin/python -m venv "$VENV"
install_pytorch 2>/dev/null || install_pytorch --index-url "$CPU_INDEX"
# The packages of .venv come after those of .venv-sim, so that its own PyTorch wins.
shared=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
register_device
printf '%s\n' "$(pwd -P)/tests/simulated_mps" "import site; site.addsitedir('$shared')" > "$own/shared_with_venv.pth"
compile_device
wanted > "$STAMP.part"
mv "$STAMP.part" "$STAMP"
