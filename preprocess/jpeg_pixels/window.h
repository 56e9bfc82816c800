#pragma once

#include "preprocess/jpeg_entropy/entropy.h"
#include "preprocess/jpeg_entropy/scratch.h"
#include "preprocess/jpeg_entropy/seek_index.h"
#include "preprocess/pixels/row_sink.h"

namespace infeed {

enum class PlainResult {
  kDone,
  kIrregular,     // for libjpeg; the sink may have got rows
  kIndexRefused,  // the index does not fit; the same
};

// Decodes the window that scratch.plan plans into the sink, by the best
// instruction set. index may be null.
[[nodiscard]] PlainResult DecodePlainWindow(const PlainJpeg& jpeg,
                                            const JpegSeekIndex* index,
                                            PlainScratch& scratch,
                                            RowSink& sink);

}  // namespace infeed
