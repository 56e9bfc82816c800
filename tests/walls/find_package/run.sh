#!/usr/bin/env bash
# Builds the consumer against an installed tree and runs it; runs the installed
# programs. usage: run.sh PREFIX CMAKE CXX
set -euo pipefail
prefix="$1" cmake="$2" cxx="$3"
source="$(cd "$(dirname "$0")" && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
"$cmake" -S "$source" -B "$work/build" -DCMAKE_CXX_COMPILER="$cxx" \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix" >"$work/configure.log" ||
  { cat "$work/configure.log"; exit 1; }
"$cmake" --build "$work/build"
"$work/build/consumer" "$work"
"$prefix/bin/make_demo_images" --output "$work/images" --train 20 --validation 10 >"$work/log"
"$work/build/converter" "$work/images" "$work/shards"
# None of the libraries needs the command line's.
if grep -r CLI11 "$prefix"/lib*/cmake/infeed; then exit 1; fi
# The installed programs run, too, each with its completion.
for program in "$prefix"/bin/*; do
  "$program" --version
  name="$(basename "$program")"
  bash -n "$prefix/share/bash-completion/completions/$name"
done
