#!/usr/bin/env bash
# ci: run long

# --8<-- [start:print_device]
python -m snippets.device
# --8<-- [end:print_device]

# --8<-- [start:force_cpu]
python -m snippets.device cpu
# --8<-- [end:force_cpu]

# --8<-- [start:first_tensor]
python -c "import torch; print(torch.zeros(1).device)"
# --8<-- [end:first_tensor]

# --8<-- [start:this_machine]
SYSTEM_VERSION_COMPAT=0 python -c \
    "import platform; print(platform.machine(), platform.mac_ver()[0])"
python -c "import torch; print(torch.__version__, torch.backends.mps.is_built())"
python -c "import torch; print(torch.backends.mps.is_available())"
# --8<-- [end:this_machine]

# --8<-- [start:accelerator]
python -c "import torch.accelerator as a; print(a.current_accelerator(), a.is_available())"
# --8<-- [end:accelerator]

# --8<-- [start:device_count]
python -c "import torch; print(torch.mps.device_count())"
# --8<-- [end:device_count]

# --8<-- [start:no_switch]
PYTORCH_ENABLE_MPS_FALLBACK=1 python -m snippets.device
# --8<-- [end:no_switch]
