#!/usr/bin/env bash
# ci: run
# Start the two-tower training so that it outlives this terminal, or continue it.
#
#     examples/two_tower/launch.sh                             on the default data, in runs/two_tower/launched
#     examples/two_tower/launch.sh --cpu-fallback runs/night --data pairs.npz --epochs 5
#
# examples/start_run.sh does the work: it keeps a log beside the folder and refuses a second start there.
# With --cpu-fallback, a training whose GPU fails goes on on the CPU, once, from its last checkpoint.

set -eu

# The guide has 4 threads. They compute on the CPU alone: more than cores make it slow, and with more fast cores,
# more are better. So a number of yours counts. KMP_DUPLICATE_LIB_OK and a watermark of 0.0 would only hide errors.
threads=$(getconf _NPROCESSORS_ONLN)
if [ "$threads" -gt 4 ]; then
  threads=4
fi
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-$threads}"

here=$(cd "$(dirname "$0")" && pwd)
fallback=
if [ "${1:-}" = --cpu-fallback ]; then
  fallback=$1
  shift
fi
run=runs/two_tower/launched
case ${1:-} in
  -*)
    echo "usage: $0 [--cpu-fallback] [RUN_FOLDER [OPTION ...]]" >&2
    exit 2
    ;;
  ?*)
    run=$1
    shift
    ;;
esac
# shellcheck disable=SC2086 # one word, or none
exec "$here/../start_run.sh" $fallback "$run" "$here/train.py" "$@"
