#!/usr/bin/env bash
# ci: run long

# --8<-- [start:make-data]
python examples/floorplan_diffusion/make_data.py
python examples/floorplan_diffusion/check_data.py data/plans
# --8<-- [end:make-data]

# Plans in the published form, in place of the reader's own
PYTHONPATH=.:tests/examples/floorplan_diffusion python -c "
import pathlib, numpy, published
from examples.floorplan_diffusion.generated_plans import generate_plans
for part, split in enumerate(('train', 'val', 'test')):
    folder = pathlib.Path('rplang-v3-withsemantics', split)
    folder.mkdir(parents=True)
    for number, plan in enumerate(generate_plans(20, [0, part])):
        numpy.save(folder / f'{number}.npy', published.entry_of(plan, number))
"

# --8<-- [start:count]
find rplang-v3-withsemantics/train -name '*.npy' | wc -l
# --8<-- [end:count]

# --8<-- [start:check-published]
python examples/floorplan_diffusion/check_data.py rplang-v3-withsemantics
# --8<-- [end:check-published]

# --8<-- [start:convert]
python examples/floorplan_diffusion/convert.py rplang-v3-withsemantics --trust-pickle --out data/rplan
python examples/floorplan_diffusion/check_data.py data/rplan
# --8<-- [end:convert]
