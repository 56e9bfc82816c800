#pragma once

#include <optional>

#include "preprocess/jpeg_entropy/entropy.h"
#include "preprocess/jpeg_entropy/scratch.h"
#include "preprocess/jpeg_entropy/seek_index.h"

namespace infeed {

// MakeSeekIndex() of a JPEG whose markers are read. Requires: no restart
// markers, run >= 0.
[[nodiscard]] std::optional<JpegSeekIndex> MakePlainSeekIndex(
    const PlainJpeg& jpeg, int run, PlainScratch& scratch);

}  // namespace infeed
