#!/usr/bin/env bash
# ci: run

# --8<-- [start:start]
examples/start_run.sh runs/night examples/cifar_optimizers/train.py --epochs 3
# --8<-- [end:start]

# --8<-- [start:watch]
python examples/monitor.py runs/night
# --8<-- [end:watch]

# --8<-- [start:once]
python examples/monitor.py runs/night --once
# --8<-- [end:once]

# --8<-- [start:newest]
python examples/monitor.py
# --8<-- [end:newest]

# --8<-- [start:heartbeat]
python -m json.tool runs/night/heartbeat.json
# --8<-- [end:heartbeat]

# --8<-- [start:log]
tail -n 5 runs/night.log
# --8<-- [end:log]

# --8<-- [start:plist]
python -m snippets.launch_agent local.night runs/night examples/cifar_optimizers/train.py > local.night.plist
# --8<-- [end:plist]
