#!/usr/bin/env bash
# The whole way once, on made images: JPEG folders to shards to a trained
# ResNet-18. usage: demo.sh BIN_DIR WORK_DIR
set -euo pipefail
bin="$1" work="$2"
images="$work/images" shards="$work/shards" model="$work/model"
target=0.9

step() { printf '\n== %s\n' "$*" >&2; }

rm -rf "$work"
mkdir -p "$work"

step "1/5  draw 10 classes of images that differ by shape and texture"
"$bin/make_demo_images" --output "$images"

step "2/5  convert them to TFRecord shards"
"$bin/imagenet_to_records" --raw_data_dir "$images" --local_scratch_dir "$shards"

step "3/5  verify every checksum, Example and image of the shards"
"$bin/records" verify --decode "$shards"

step "4/5  train ResNet-18 at 48 px until it is above 90 % on held-out images"
"$bin/train_resnet" --data_dir "$shards" --model_dir "$model" \
  --mode train_and_eval \
  --params_override="resnet_depth=18,image_size=48,train_batch_size=50,train_epochs=7,steps_per_eval=60,iterations_per_loop=20,base_learning_rate=0.2,learning_rate_schedule=cosine,warmup_epochs=0.5,stop_at_top_1=$target" |
  tee "$work/result"
top_1="$(sed -n 's/.*top-1 \([0-9.]*\).*/\1/p' "$work/result" | tail -1)"

step "5/5  the input engine alone, 5 seconds"
"$bin/pipeline_throughput" --data_dir "$shards" --image_size 48 \
  --batch_size 50 --threads "$(nproc)" --seconds 5 --rounds 1

cat <<TEXT

Summary
  shards       $shards: $("$bin/records" count "$shards" | awk 'END { print $NF }') images
  model        $model (checkpoints, metrics.jsonl, params.yaml)
Next
  look at the curves    tensorboard --logdir $model
  measure the input     $bin/pipeline_throughput --data_dir $shards --image_size 48 --threads 1,$(nproc)
  look into a shard     $bin/records cat --limit 3 $shards
  train on              run ./dev demo's train_resnet command again: it goes on from the checkpoint
TEXT
awk -v top="$top_1" -v target="$target" 'BEGIN {
  printf "held-out top-1 %.1f %%\n", 100 * top
  exit top + 0 >= target ? 0 : 1
}'
