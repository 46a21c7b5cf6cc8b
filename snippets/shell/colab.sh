#!/usr/bin/env bash
# ci: no - network: clones, installs and downloads; tests/site/test_colab_commands.py runs it on other data
set -e
REPO_URL=$1  # on pages the address itself, see tools/repository_passages.py

# --8<-- [start:clone]
git clone "$REPO_URL" /content/mps-handbook
# --8<-- [end:clone]

# --8<-- [start:unzip]
unzip -q /content/mps-handbook.zip -d /content
# --8<-- [end:unzip]

# --8<-- [start:install]
python -m pip install scikit-learn matplotlib tqdm
python /content/mps-handbook/examples/check_setup.py
# --8<-- [end:install]

# --8<-- [start:train]
cd /content/drive/MyDrive || exit  # ends here without the Drive
mkdir -p runs
cp -R runs /content/mps-handbook
cd /content/mps-handbook
while sleep 900; do cp -R -u runs /content/drive/MyDrive; done > copies.log 2>&1 &
trap 'kill $!; cp -R -u runs /content/drive/MyDrive' EXIT
python examples/cifar_optimizers/train.py --data cifar10 --download --out runs/colab --resume auto
# --8<-- [end:train]
