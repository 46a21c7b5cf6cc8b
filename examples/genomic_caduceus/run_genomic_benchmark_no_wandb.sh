#!/usr/bin/env bash
# ci: run
# Train on each of several data sets with several seeds, one training after the other.
# Everything is noted in files of the run folders, and nothing elsewhere.
#
#     DATA=~/.genomic_benchmarks DATASETS="human_nontata_promoters human_enhancers_cohn" SEEDS="1 2 3" \
#         examples/genomic_caduceus/run_genomic_benchmark_no_wandb.sh [key=value ...]
#
# DATA: a folder of data sets, or a single one; ~/.genomic_benchmarks. DATASETS: names in DATA; all. SEEDS: 1 2 3 4 5.
# OUT: folder of the runs. Settings of train.py may follow. The same command again continues what was interrupted.
# Ctrl-C stops everything. A `kill` of this script alone lets the data set of the moment go on to its end.

set -eu

here=$(cd "$(dirname "$0")" && pwd)
experiment=${EXPERIMENT:-hg38/genomic_benchmark}
data=${DATA:-$HOME/.genomic_benchmarks}
out=${OUT:-runs/genomic_caduceus/${experiment##*/}}

# Train with each seed on the data set in the folder that comes first; settings follow.
train_on() {
  folder=$1
  shift
  # shellcheck disable=SC2086 # several seeds
  python "$here/compare_seeds.py" ${SEEDS:-1 2 3 4 5} --out "$out/$(basename "$folder")" \
    -- "experiment=$experiment" "data=$folder" "$@"
}

if [ -d "$data/train" ]; then
  train_on "$data" "$@"
  exit
fi
for name in ${DATASETS:-}; do
  train_on "$data/$name" "$@"
done
if [ -n "${DATASETS:-}" ]; then
  exit
fi
found=
for inner in "$data"/*/train; do
  if [ -d "$inner" ]; then
    found=yes
    train_on "$(dirname "$inner")" "$@"
  fi
done
if [ -z "$found" ]; then
  echo "error: $data holds no data set; name a folder with DATA=, or make one: python $here/make_data.py" >&2
  exit 2
fi
