#!/bin/bash -eu
# Builds the fuzz targets but those of the trainer, which needs LibTorch, into
# $OUT, each with its corpus and its words. Targets may be named.

# Ubuntu's C++ libraries are made for libstdc++.
export CXXFLAGS="${CXXFLAGS//-stdlib=libc++/}"

source="$SRC/infeed"
build="$WORK/infeed"
cmake -S "$source" -B "$build" -G Ninja -D CMAKE_BUILD_TYPE=RelWithDebInfo \
  -D INFEED_FUZZ=ON -D INFEED_TRAINER=OFF -D INFEED_IMAGE_CODECS=OFF \
  -D INFEED_WORKERS=OFF -D INFEED_BENCHMARKS=OFF \
  -D CMAKE_BUILD_RPATH='$ORIGIN/lib'
cmake --build "$build" --target "${@:-fuzz_targets}"

mkdir -p "$OUT/lib"
for target in "$build"/tests/*_fuzz; do
  name="$(basename "$target")"
  cp "$target" "$OUT/"
  # Targets run where these libraries are not installed; glibc is.
  ldd "$target" | awk '/=> \// { print $3 }' |
    grep -Ev '/(libc|libm|libdl|librt|libpthread|libresolv)\.so' |
    xargs -r cp -L -t "$OUT/lib"
  zip -jq "$OUT/${name}_seed_corpus.zip" "$source/tests/fuzz/corpus/$name"/*
  if [[ -f "$source/tests/fuzz/$name.dict" ]]; then
    cp "$source/tests/fuzz/$name.dict" "$OUT/"
  fi
done
