#!/usr/bin/env bash
# ci: run
# Start a training that outlives this terminal and keeps the Mac awake, or continue one.
#
#     examples/start_run.sh runs/night examples/cifar_optimizers/train.py --data cifar10 --epochs 200
#
# Everything that it prints goes into runs/night.log. Exit code 0: it trains, or has finished; otherwise the trainer's.

# --8<-- [start:start_run]
set -eu

if [ $# -lt 2 ]; then
  echo "usage: $0 RUN_FOLDER TRAIN_SCRIPT [OPTION ...]" >&2
  exit 2
fi
run=${1%/}
shift
log=$run.log
mkdir -p "$(dirname "$run")"

awake=
if command -v caffeinate > /dev/null; then # on Macs: no sleep because nobody types
  awake="caffeinate -i"
fi
# shellcheck disable=SC2086 # two words, or none
nohup $awake python -u "$@" --out "$run" --resume auto >> "$log" 2>&1 < /dev/null &
pid=$!

# A wrong option, or a second start, ends the program at once. The heartbeat says that it really trains.
until grep -qs "\"pid\": $pid," "$run/heartbeat.json"; do
  if ! kill -0 "$pid" 2> /dev/null; then
    code=0
    wait "$pid" || code=$?
    tail -n 3 "$log" >&2
    exit "$code"
  fi
  sleep 0.2
done
echo "process $pid trains in $run"
echo "watch:  python examples/monitor.py $run"
echo "stop:   kill $pid"
# --8<-- [end:start_run]
