"""Look through the scripts of a folder for what is written for CUDA."""

# --8<-- [start:recipe]
import re
from pathlib import Path

CHANGE = {
    r"\.cuda\(|['\"]cuda": ".to(device), chosen once",
    r"torchrun|deepspeed|multi_gpu|nccl|DistributedData\w+|device_count": "one process",
    r"fp16|bf16|float16|float64|\.(half|double)\(|autocast|GradScaler": "float32 first",
    r"flash_att\w+|xformers|triton|load_in_[48]bit|\w+_bnb_8bit": "plain PyTorch",
    r"torch\.cuda\.(?!is_|device_)\w+|(torch\.|--)compile|pin_memory": "off at first",
}
files = [path for path in Path().rglob("*") if path.suffix in {".py", ".sh", ".yaml"}]
code = {p: p.read_text(errors="ignore") for p in files if "site-packages" not in str(p)}
for path, text in (code or {Path("example"): "torchrun a --fp16\nnet.cuda()"}).items():
    for pattern, change in CHANGE.items():
        for hit in re.finditer(pattern, text):
            print(path, text.count("\n", 0, hit.start()) + 1, hit[0], change, sep=" | ")
# --8<-- [end:recipe]
