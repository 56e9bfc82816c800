#pragma once

#include "tools/convert/image_encoder.h"
#include "tools/convert/record_maker.h"
#include "tools/convert/task_share.h"
#include "tools/shards/seek_index_maker.h"

namespace infeed {

struct ConverterOptions {
  // What changes the shards' bytes; all of it is in their fingerprints.

  OnBadImage on_bad_image = OnBadImage::kFail;
  ImageEncoderOptions image = {};
  SeekEntries seek_index = SeekEntries::kRows;  // of JPEGs

  // How they are made.

  // Which of the shards are made; the others are another process's.
  TaskShare share = {};
  // Whether a shard of an earlier run is read, to see that its bytes are still
  // those that were written, before it is kept.
  bool verify_resume = false;
  // Whether shards in the output folder that are not part of the plan may be
  // removed; otherwise they are a UsageError.
  bool overwrite = false;
  int threads = 0;  // 0: one for each core
};

// Which seek indexes a conversion makes: pixels need none.
[[nodiscard]] inline SeekEntries WantedSeekEntries(
    const ConverterOptions& options) {
  return options.image.format == RecordFormat::kPixels ? SeekEntries::kNone
                                                       : options.seek_index;
}

}  // namespace infeed
