#!/usr/bin/env bash
# ci: run long

# --8<-- [start:all]
python snippets/digit_pictures.py
python examples/cifar_optimizers/check_data.py digit_pictures --image-size 16 --sheet check.png
python examples/cifar_optimizers/train.py --data digit_pictures --image-size 16 --epochs 5 --out runs/pictures
python examples/cifar_optimizers/predict.py runs/pictures digit_pictures/test --out classes.csv --sheet classes.png
python examples/cifar_optimizers/export.py runs/pictures
# --8<-- [end:all]

# In the tests, the digits are the reader's pictures: a folder per class, and new ones elsewhere.
cp -R digit_pictures/train my_pictures
cp -R digit_pictures/test new_pictures

# --8<-- [start:train]
python examples/cifar_optimizers/check_data.py my_pictures --sheet pictures.png
python examples/cifar_optimizers/train.py --data my_pictures --out runs/mine
# --8<-- [end:train]

# --8<-- [start:use]
python examples/cifar_optimizers/predict.py runs/mine new_pictures --out predicted.csv
python examples/cifar_optimizers/export.py runs/mine
# --8<-- [end:use]
