"""Look through the scripts of a folder for what is written for CUDA."""

# --8<-- [start:recipe]
import re
from pathlib import Path

CUDA = r"""\.cuda\(|torch\.cuda\b|['"]cuda|device\W+cuda|args\.cuda|torchrun|nproc_
|deepspeed|multi_gpu|nccl|Distributed|device_count|(fp|bf|float|precision\W+)16|float64
|\.(half|double)\(|autocast|GradScaler|flash_att|xformers|\btriton\b|bitsandbytes
|_\d+bit|torch\.compile|--compile|pin_memory|non_blocking|num_workers(?!\W+0\b)"""
files = [p for p in Path().rglob("*.*") if re.search(r"\.(py|sh|ya?ml)$", p.name)]
code = {p: p.read_text(errors="ignore") for p in files if "site-packages" not in str(p)}
found = []
for path, text in (code or {Path("example"): "torchrun a --fp16\nnet.cuda()"}).items():
    for hit in re.finditer(rf"^[^#\n]*?(?:{CUDA}).*", text, re.M | re.X):
        print(path, text.count("\n", 0, hit.start()) + 1, hit[0].strip(), sep=" | ")
        found.append(path)

print(f"{len(found)} lines in {len(set(found))} files" if found else "nothing found")
# --8<-- [end:recipe]
