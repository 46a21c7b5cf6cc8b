#!/usr/bin/env bash
# ci: no - macOS only: changes the profile of zsh; the last command is for launchd

# --8<-- [start:profile]
echo 'export PYTORCH_ENABLE_MPS_FALLBACK=1' >> ~/.zprofile
# --8<-- [end:profile]

# --8<-- [start:which_file]
grep -nE "PYTORCH_|OMP_|MKL_|KMP_" ~/.zshenv ~/.zprofile ~/.zshrc ~/.zlogin
# --8<-- [end:which_file]

# --8<-- [start:plist]
PYTORCH_ENABLE_MPS_FALLBACK=1 \
    python -m snippets.launch_agent local.night runs/night examples/cifar_optimizers/train.py > local.night.plist
# --8<-- [end:plist]
