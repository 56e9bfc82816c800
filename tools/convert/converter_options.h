#pragma once

#include "base/choices.h"
#include "tools/convert/image_encoder.h"
#include "tools/convert/task_share.h"
#include "tools/shards/seek_index_maker.h"

namespace infeed {

// The policy for a broken image.
enum class OnBadImage {
  kFail,  // stop with a DataError that names the file
  kSkip,  // leave it out and report it
  // Store the decodable part of a damaged JPEG as a new JPEG, and report it; an
  // image that cannot be decoded at all is skipped.
  kReencode,
};

inline constexpr Choices<OnBadImage, 3> kOnBadImages = {
    {{"fail", OnBadImage::kFail},
     {"skip", OnBadImage::kSkip},
     {"reencode", OnBadImage::kReencode}}};

struct ConverterOptions {
  // Options that change the shards' bytes; all are in their fingerprints.

  OnBadImage on_bad_image = OnBadImage::kFail;
  ImageEncoderOptions image = {};
  SeekEntries seek_index = SeekEntries::kRows;  // of JPEGs

  // How the shards are made.

  // The shards that this process makes; other processes make the others.
  TaskShare share = {};
  // Before keeping a shard of an earlier run, read it and check that its bytes
  // are unchanged.
  bool verify_resume = false;
  // Remove shards in the output folder that are not part of the plan; if false
  // they cause a UsageError.
  bool overwrite = false;
  int threads = 0;  // 0: one per core
};

// The seek indexes that a conversion makes, if its shards are not tars; records
// of pixels need none.
[[nodiscard]] inline SeekEntries WantedSeekEntries(
    const ConverterOptions& options) {
  return options.image.format == ImageForm::kPixels ? SeekEntries::kNone
                                                    : options.seek_index;
}

}  // namespace infeed
