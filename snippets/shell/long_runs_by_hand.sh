#!/usr/bin/env bash
# ci: no - interactive: the training goes on in the background, tail and tmux wait for keys

# --8<-- [start:nohup]
mkdir -p runs
nohup caffeinate -i python -u train.py >> runs/night.log 2>&1 &
# --8<-- [end:nohup]

# --8<-- [start:follow]
tail -f runs/night.log
# --8<-- [end:follow]

# --8<-- [start:tmux]
tmux new -s night
# --8<-- [end:tmux]

# --8<-- [start:tmux_again]
tmux attach -t night
# --8<-- [end:tmux_again]

# --8<-- [start:check]
examples/start_run.sh runs/check examples/cifar_optimizers/train.py --epochs 100
examples/start_run.sh runs/check examples/cifar_optimizers/train.py --epochs 100
# --8<-- [end:check]
