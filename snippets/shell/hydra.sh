#!/usr/bin/env bash
# ci: run
# shellcheck disable=SC2016  # Hydra resolves ${...}, the shell must not

# The files are those of hydra_files.sh.
cp snippets/hydra_training.py train.py
bash snippets/shell/hydra_files.sh

# --8<-- [start:start]
python train.py +dataset.num_workers=0
# --8<-- [end:start]

# --8<-- [start:no_folder]
python train.py hydra.run.dir=. hydra.output_subdir=null hydra/job_logging=stdout
# --8<-- [end:no_folder]

# --8<-- [start:look]
python train.py +experiment=mac dataset.batch_size=8 --cfg job --resolve
python train.py +experiment=mac --info defaults
# --8<-- [end:look]

# --8<-- [start:quotes]
python train.py '+dataset.files=[a,b]'
python train.py '+trainer.logger={name:csv,save:1}'
python train.py '~trainer.max_epochs'
python train.py '+train.label=${dataset.name}'
python train.py "dataset.name='a,b'"
# --8<-- [end:quotes]

# --8<-- [start:sweep]
python train.py --multirun dataset.batch_size=32,64
# --8<-- [end:sweep]
