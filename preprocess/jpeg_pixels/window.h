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
// set. index may be null. If found is not null and the result is kDone, it
// becomes the index extended by the rows of MCUs that had to be read beyond it;
// without entries if there were none. Requires: found is not index.
[[nodiscard]] PlainResult DecodePlainWindow(const PlainJpeg& jpeg,
                                            const JpegSeekIndex* index,
                                            PlainScratch& scratch,
                                            RowSink& sink,
                                            JpegSeekIndex* found = nullptr);

}  // namespace infeed
