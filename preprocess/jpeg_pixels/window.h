#pragma once

#include "preprocess/jpeg_entropy/entropy.h"
#include "preprocess/jpeg_entropy/scratch.h"
#include "preprocess/jpeg_entropy/seek_index.h"
#include "preprocess/pixels/row_sink.h"

namespace infeed {

enum class PlainResult {
  kDone,
  kIrregular,     // libjpeg must decode it; the sink may have got rows
  kIndexRefused,  // wrong index; the sink may have got rows
};

// Decodes the window of scratch.plan into the sink with the best instruction
// set. index may be null.
[[nodiscard]] PlainResult DecodePlainWindow(const PlainJpeg& jpeg,
                                            const JpegSeekIndex* index,
                                            PlainScratch& scratch,
                                            RowSink& sink);

}  // namespace infeed
