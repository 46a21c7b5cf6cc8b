#!/usr/bin/env bash
# ci: no - network: copies to and from a rented machine; tests/site/test_rented_gpu.py runs it with a folder in its place
set -e

# --8<-- [start:host]
mkdir -p ~/.ssh
cat >> ~/.ssh/config <<'END'

Host gpu
    HostName gpu.example.com
    Port 22
    User root
END
# --8<-- [end:host]

# --8<-- [start:upload]
scp mps-handbook.zip gpu:
ssh gpu
# --8<-- [end:upload]

# --8<-- [start:train]
python -m zipfile -e mps-handbook.zip .
cd mps-handbook
python -m pip install scikit-learn matplotlib tqdm
python examples/check_setup.py
bash examples/start_run.sh runs/rented examples/cifar_optimizers/train.py --epochs 50
# --8<-- [end:train]

# --8<-- [start:along]
ssh gpu mkdir -p mps-handbook/runs
scp -r runs/mine gpu:mps-handbook/runs/
scp -r my_pictures gpu:mps-handbook/
# --8<-- [end:along]

# --8<-- [start:go-on]
bash examples/start_run.sh runs/mine examples/cifar_optimizers/train.py --device cuda --data my_pictures
# --8<-- [end:go-on]

# --8<-- [start:home]
mkdir -p runs
scp -r gpu:mps-handbook/runs/rented runs/
python examples/cifar_optimizers/train.py --out runs/rented --resume auto
# --8<-- [end:home]
