#!/usr/bin/env bash
# ci: run long

# --8<-- [start:device]
python -c "import transformers as t; print(t.__version__, t.TrainingArguments('out').device)"
python -c "import accelerate as a; print(a.__version__, a.Accelerator().device)"
# --8<-- [end:device]
