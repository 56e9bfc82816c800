#!/usr/bin/env bash
# Builds examples/ against an installed tree, as its README says, and runs them
# on images that the installed programs make. usage: run.sh PREFIX CMAKE CXX
set -euo pipefail
prefix="$1" cmake="$2" cxx="$3"
examples="$(cd "$(dirname "$0")/../../../examples" && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
  echo "examples: $*" >&2
  exit 1
}

"$cmake" -S "$examples" -B build -DCMAKE_CXX_COMPILER="$cxx" \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix" >configure.log ||
  { cat configure.log; exit 1; }
"$cmake" --build build
"$prefix/bin/make_demo_images" --output images --train 2000 --validation 500
"$prefix/bin/imagenet_to_records" --raw_data_dir images --local_scratch_dir shards \
  >conversion.log 2>&1 || { cat conversion.log; exit 1; }

# It learns: the loss of the last epoch is less than half of the first one's,
# and of images that it has not seen it knows nine in ten (of ten classes).
build/softmax_regression shards | tee training.txt
awk '/^train/ { losses[++epochs] = $3 }
     /^validation/ { share = $4 }
     END { exit !(epochs == 8 && losses[8] < losses[1] / 2 && share > 90) }' \
  training.txt || fail "the trainer has not learnt"
build/softmax_regression shards | cmp - training.txt ||
  fail "the trainer does not repeat itself"

build/resume shards | grep -x "the same batches" ||
  fail "a resumed stream has other batches"
grep -q '"position": 640' stream.json || fail "stream.json is not the place"

build/loop shards | grep -q "^32 images, the first of class [0-9]" ||
  fail "the shortest loop has no batches"

# Every image of both splits, 32x32 pixels of three bytes, from shards; one from
# its file, which is the same image as in its record.
build/pixels plain 32 shards shards.rgb
[[ "$(stat -c %s shards.rgb)" == $((2500 * 32 * 32 * 3)) ]] ||
  fail "pixels has not written every image"
"$prefix/bin/records" extract --output extracted --limit 1 shards >extract.log
find "$PWD/extracted" -type f >names.txt
build/pixels plain 32 names.txt file.rgb
cmp -n $((32 * 32 * 3)) file.rgb shards.rgb || fail "a file has other pixels"
[[ -z "$(find extracted -name .infeed)" ]] ||
  fail "reading images has left something beside them"

# A program elsewhere finds the installed plugins: 32x32 white pixels of a BMP.
if [[ -n "$(find "$prefix" -name libinfeed_codecs.so)" ]]; then
  python3 -c 'import struct, sys
sys.stdout.buffer.write(b"BM" + struct.pack("<IIIIiiHH24x", 3126, 0, 54, 40, 32, 32, 1, 24) + b"\xff" * 3072)' \
    >white.bmp
  echo "$PWD/white.bmp" >names.txt
  build/pixels plain 32 names.txt white.rgb
  cmp white.rgb <(tail -c 3072 white.bmp) || fail "a BMP has other pixels"
fi

# What is wrong is said.
! build/softmax_regression nowhere 2>error.txt || fail "no folder, and no error"
grep -q "nowhere: cannot read the folder" error.txt || fail "$(cat error.txt)"

# Slurm's scripts are those that ./dev slurm runs, and the comparisons need what
# no test may: here only that bash and Python can read them.
for script in "$examples"/slurm/*.sbatch; do
  bash -n "$script" || fail "$script"
done
for script in "$examples"/compare/*.py; do
  python3 -c "compile(open('$script').read(), '$script', 'exec')" ||
    fail "$script"
done
