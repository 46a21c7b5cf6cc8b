#!/usr/bin/env bash
# ci: run
# Start a training that outlives this terminal and keeps the Mac awake, or continue one.
#
#     examples/start_run.sh runs/night examples/cifar_optimizers/train.py --data cifar10 --epochs 200
#
# Everything that it prints goes into runs/night.log. Exit code 0: it trains, or has finished; otherwise the trainer's.
# With --cpu-fallback before the folder, a training whose GPU fails goes on on the CPU, once.

# --8<-- [start:cpu_fallback]
# Wait for the end of the training whose PID comes first; if its GPU failed, go on with the options on the CPU.
go_on_on_cpu() {
  trap '' HUP # like nohup
  exec >> "$log" 2>&1
  read -r pid || return 0 # it never began
  cat > /dev/null # the training holds the other end of this pipe, and lets go of it even in a crash
  beat=$run/heartbeat.json
  if grep -q '"device": "cpu"' "$beat"; then
    return 0
  elif grep -q '"status": "running"' "$beat"; then
    echo "note: process $pid crashed; going on on the CPU"
  elif grep -Eq '"error": "(Runtime|Accelerator|OutOfMemory|NotImplemented)Error' "$beat"; then
    echo "note: process $pid failed on its device; going on on the CPU"
  else
    return 0 # finished, stopped by a signal, or an error that the CPU does not cure, such as a loss of NaN
  fi
  # shellcheck disable=SC2086 # two words, or none
  exec $awake python -u "$@" --out "$run" --resume auto --device cpu < /dev/null
}
# --8<-- [end:cpu_fallback]

# --8<-- [start:start_run]
set -eu

fallback=no
if [ "${1:-}" = --cpu-fallback ]; then
  fallback=yes
  shift
fi
if [ $# -lt 2 ]; then
  echo "usage: $0 [--cpu-fallback] RUN_FOLDER TRAIN_SCRIPT [OPTION ...]" >&2
  exit 2
fi
run=${1%/}
shift
log=$run.log
mkdir -p "$(dirname "$run")"
before=$(cat "$log" 2> /dev/null | wc -c)

awake=
if command -v caffeinate > /dev/null; then # on Macs: no sleep because nobody types
  awake="caffeinate -i"
fi
exec 3> /dev/null
if [ $fallback = yes ]; then
  exec 3> >(go_on_on_cpu "$@")
fi
# shellcheck disable=SC2086 # two words, or none
nohup $awake python -u "$@" --out "$run" --resume auto >> "$log" 2>&1 < /dev/null &
pid=$!

# A wrong option, or a second start, ends the program at once. The heartbeat says that it really trains.
until grep -qs "\"pid\": $pid," "$run/heartbeat.json"; do
  if ! kill -0 "$pid" 2> /dev/null; then
    code=0
    wait "$pid" || code=$?
    tail -c +$((before + 1)) "$log" | grep '^error: ' >&2 || tail -n 3 "$log" >&2 # a first start may print there, too
    exit "$code"
  fi
  sleep 0.2
done
echo "$pid" >&3
echo "process $pid trains in $run"
echo "watch:  python examples/monitor.py $run"
echo "stop:   kill $pid"
# --8<-- [end:start_run]
if [ $fallback = yes ]; then
  echo "If its GPU fails, another process goes on on the CPU, once; its PID is then in $run/train.pid."
fi
