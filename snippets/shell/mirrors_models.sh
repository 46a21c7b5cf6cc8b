#!/usr/bin/env bash
# ci: no - network: downloads from mirrors and model hubs

# --8<-- [start:hub]
export HF_ENDPOINT=ADDRESS
export HF_HUB_DISABLE_IMPLICIT_TOKEN=1
python -m pip install huggingface_hub
hf download openai-community/gpt2 config.json
# --8<-- [end:hub]

# --8<-- [start:modelscope]
python -m pip install modelscope
python -c "from modelscope import snapshot_download as d; print(d('Qwen/Qwen2.5-0.5B-Instruct'))"
# --8<-- [end:modelscope]

# --8<-- [start:wheel]
python -m pip download --no-deps --only-binary=:all: --dest wheels \
    --platform macosx_15_0_arm64 --python-version 3.13 torch==2.15.0
python -m pip download --only-binary=:all: --dest wheels \
    --platform macosx_15_0_arm64 --python-version 3.13 \
    filelock fsspec jinja2 networkx setuptools sympy typing-extensions
# --8<-- [end:wheel]
