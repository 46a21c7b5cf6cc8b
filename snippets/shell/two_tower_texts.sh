#!/usr/bin/env bash
# ci: run long

# --8<-- [start:own-texts]
python examples/two_tower/encode.py examples/two_tower/data/pairs.tsv --article page --out runs/texts
python examples/two_tower/train.py --data runs/texts --epochs 3 --out runs/two_tower/texts
python examples/two_tower/search.py "not enough memory" runs/two_tower/texts
python examples/two_tower/embed.py runs/two_tower/texts examples/two_tower/data/pairs.tsv \
    --side document --out runs/documents --index runs/documents.faiss
# --8<-- [end:own-texts]

# --8<-- [start:new-documents]
python examples/two_tower/search.py "not enough memory" runs/two_tower/texts --documents runs/documents
# --8<-- [end:new-documents]

# --8<-- [start:queries]
python examples/two_tower/embed.py runs/two_tower/texts examples/two_tower/data/pairs.tsv \
    --side query --out runs/queries.npy
# --8<-- [end:queries]

# --8<-- [start:export]
python examples/two_tower/export.py runs/two_tower/texts
# --8<-- [end:export]
