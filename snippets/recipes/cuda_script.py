"""Look through the scripts of a folder for what is written for CUDA."""

# --8<-- [start:recipe]
import re
from pathlib import Path

CHANGE = {
    r"\.cuda\(|(device\W+|['\"])cuda|cuda\.\w+Tensor": ".to(device), chosen once",
    r"torchrun|nproc_|deepspeed|multi_gpu|nccl|Distributed|device_count": "one process",
    r"(fp|bf|float|precision\W+)16|float64|\.(half|double)\(|autocast": "float32 first",
    r"flash_att\w+|xformers|\btriton\b|bitsandbytes|\w+_\d+bit": "plain PyTorch",
    r"torch\.(compile|cuda\.(?![dim]|\w+T)\w+)|--compile|pin_memory|GradScaler": "off",
}
files = [p for p in Path().rglob("*.*") if re.search(r"\.(py|sh|ya?ml)$", p.name)]
code = {p: p.read_text(errors="ignore") for p in files if "site-packages" not in str(p)}
for path, text in (code or {Path("example"): "torchrun a --fp16\nnet.cuda()"}).items():
    for pattern, change in CHANGE.items():
        for hit in re.finditer(rf"(?m)^[^#\n]*?({pattern}).*", text):
            print(path, text.count("\n", 0, hit.start()) + 1, hit[1], change, sep=" | ")
# --8<-- [end:recipe]
