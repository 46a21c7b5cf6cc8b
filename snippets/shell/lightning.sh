#!/usr/bin/env bash
# ci: run long

# --8<-- [start:device]
python -c "import pytorch_lightning as pl; print(pl.__version__, pl.Trainer(logger=False).strategy.root_device)"
# --8<-- [end:device]

# --8<-- [start:conditions]
python -c "import os, platform, torch; print(torch.backends.mps.is_available(), platform.processor(), os.getenv('DISABLE_MPS'))"
# --8<-- [end:conditions]
