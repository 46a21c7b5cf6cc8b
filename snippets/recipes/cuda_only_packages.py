"""Look in a list of requirements for packages that need CUDA."""

# --8<-- [start:recipe]
import re
from pathlib import Path

INSTEAD = {
    "flash-attn xformers": "F.scaled_dot_product_attention",
    "mamba-ssm causal-conv1d": "a scan and a convolution in plain PyTorch",
    "triton apex torch-scatter transformer-engine": "functions of PyTorch itself",
    "auto-gptq autoawq vllm dgl": "a package for Macs: mlx-lm, PyTorch Geometric",
    "bitsandbytes deepspeed mmcv": "the newest release; not everything works on MPS",
}
file = Path("requirements.txt")  # or a file that holds what `pip freeze` prints
text = file.read_text() if file.exists() else "torch\nflash_attn>=2.5\nmamba-ssm==2.3\n"
named = re.findall(r"^[ -]*([\w.-]+)", text.lower().replace("_", "-"), re.MULTILINE)
for packages, instead in INSTEAD.items():
    for name in sorted(set(packages.split()).intersection(named)):
        print(f"{name}: on a Mac, use {instead}")
# --8<-- [end:recipe]
