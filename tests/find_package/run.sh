#!/usr/bin/env bash
# Installs the build into a new folder, builds the consumer against it and
# runs it. usage: run.sh BUILD_DIR CMAKE CXX
set -euo pipefail
build="$1" cmake="$2" cxx="$3"
source="$(cd "$(dirname "$0")" && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
"$cmake" --install "$build" --prefix "$work/prefix" >"$work/install.log"
"$cmake" -S "$source" -B "$work/build" -DCMAKE_CXX_COMPILER="$cxx" \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/configure.log" ||
  { cat "$work/configure.log"; exit 1; }
"$cmake" --build "$work/build"
"$work/build/consumer" "$work"
# The installed programs run, too, each with its manual page and completion.
for program in "$work"/prefix/bin/*; do
  "$program" --version
  name="$(basename "$program")"
  grep -q "^.TH $name 1" "$work/prefix/share/man/man1/$name.1"
  bash -n "$work/prefix/share/bash-completion/completions/$name"
done
