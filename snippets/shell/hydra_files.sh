#!/usr/bin/env bash
# ci: run

# --8<-- [start:files]
mkdir -p conf/dataset conf/experiment
cat > conf/config.yaml <<'END'
defaults:
  - dataset: promoters
  - _self_

trainer:
  accelerator: auto
  max_epochs: 10
  accumulate_grad_batches: ${div_up:${train.global_batch_size},${dataset.batch_size}}

train:
  global_batch_size: ${dataset.batch_size}
END
printf '%s\n' 'name: promoters' 'batch_size: 128' > conf/dataset/promoters.yaml
printf '%s\n' 'name: enhancers' 'batch_size: 256' > conf/dataset/enhancers.yaml
cat > conf/experiment/mac.yaml <<'END'
# @package _global_
defaults:
  - override /dataset: enhancers
  - _self_

trainer:
  accelerator: mps

dataset:
  batch_size: 16
END
# --8<-- [end:files]
