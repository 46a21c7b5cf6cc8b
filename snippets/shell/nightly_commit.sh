#!/usr/bin/env bash
# ci: no - network: copies the history of PyTorch (tests run these commands with a history on disk)

# --8<-- [start:contains]
git clone --quiet --bare --filter=tree:0 --single-branch \
    https://github.com/pytorch/pytorch ../pytorch.git
built=$(python -c "import torch; print(torch.version.git_version)")
git -C ../pytorch.git fetch --quiet origin "$built"
title=$(git -C ../pytorch.git log -1 --format=%s "$built")
made_from=$(echo "$title" | sed -n 's/.* nightly release (\([0-9a-f]*\))/\1/p')
git -C ../pytorch.git log --oneline --grep '#193623' "${made_from:-$built}"
# --8<-- [end:contains]

# --8<-- [start:between]
git -C ../pytorch.git log --oneline --grep MPS "$made_from..main"
# --8<-- [end:between]
