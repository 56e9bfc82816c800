#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bounded_queue.h"
#include "records/bytes/byte_source.h"
#include "tools/convert/image_encoder.h"
#include "tools/images/tree.h"
#include "tools/shards/seek_index_maker.h"

namespace infeed {

// What to do with a broken image.
enum class OnBadImage {
  kFail,  // stop with a DataError that names the file
  kSkip,  // leave it out and report it
  // Store the decodable part of a damaged JPEG as a new JPEG, and report it; an
  // image that cannot be decoded at all is skipped.
  kReencode,
};

[[nodiscard]] std::string_view OnBadImageName(OnBadImage policy);

// The record of an image: a serialized Example in three consecutive parts, one
// of which is the image.
struct ImageRecord {
  std::string before;
  std::string image;
  std::string after;
  std::string reencoded;  // why it differs from the file; empty: it is equal
  std::string skipped;    // why there is no record; empty: there is one
  // The turn in the EXIF data that was not done; empty: none.
  std::string not_turned;
  bool has_seek_index = false;
  bool bad = false;  // the policy for bad images was applied
};

struct RecordMakerOptions {
  OnBadImage on_bad_image = OnBadImage::kFail;
  ImageEncoderOptions image = {};  // mend excepted
  SeekEntries seek_index = SeekEntries::kRows;
  int threads = 1;  // images encoded at once; > 0
};

// Makes records of image files: reads a file, encodes the image for a record,
// makes its seek index, and builds the Example of both.
//
// The plan must outlive it. Thread-safe; while options.threads calls encode,
// others wait. Throws IoError, and DataError naming the file for a bad image
// that is not to be skipped.
class RecordMaker {
 public:
  // raw: the images in raw files; may be null if there are none.
  RecordMaker(const std::vector<ImageClass>& classes, const RawImages* raw,
              const RecordMakerOptions& options);

  // fetched: the result of FetchImage() for the image, or null.
  [[nodiscard]] ImageRecord Make(const ImageFile& image,
                                 const ByteSource* fetched = nullptr);
  [[nodiscard]] OnBadImage on_bad_image() const { return on_bad_image_; }
  [[nodiscard]] SeekEntries seek_index() const { return seek_index_; }

 private:
  [[nodiscard]] EncodedImage Encode(const ImageFile& image,
                                    const ByteSource* fetched);

  const std::vector<ImageClass>& classes_;
  const RawImages* raw_;
  OnBadImage on_bad_image_;
  SeekEntries seek_index_;
  // Idle encoders.
  BoundedQueue<std::unique_ptr<ImageEncoder>> encoders_;
};

}  // namespace infeed
