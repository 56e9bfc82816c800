#pragma once

#include "base/choices.h"
#include "preprocess/jpeg/jpeg.h"
#include "preprocess/pixels/image_size.h"
#include "tools/convert/plan.h"
#include "tools/shards/seek_index_maker.h"

namespace infeed {

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

enum class ImageForm {
  kJpeg,    // an encoded image: nearly always a JPEG
  kPixels,  // pixels as batches hold them
};

struct ImageEncoderOptions {
  // Decode JPEGs that are stored unchanged once, to find broken ones; if false
  // only their header is read.
  bool verify = true;
  // Replace a damaged JPEG by a new one of its decodable part; if false it is
  // an error. Needs verify.
  bool mend = false;
  ImageForm format = ImageForm::kJpeg;
  // A larger image is shrunk until its shorter side has this many pixels, 32 or
  // more; 0: never.
  int max_size = 0;
  int quality = 95;  // of JPEGs that are shrunk, turned or mended, 1..100
  ImageSize image_size = 224;  // of kPixels; > 0
  bool keep_png = false;       // store PNGs unchanged
  // Turn images by their EXIF orientation; if false it is ignored.
  bool exif_rotate = false;
  JpegLimits limits = {};
};

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
  // Remove shards in the output folder that are not part of the plan, and
  // replace files of another conversion; if false they cause a UsageError.
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
