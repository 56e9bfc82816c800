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

// What becomes of an image that is broken.
enum class OnBadImage {
  kFail,  // stop with a DataError that names the file
  kSkip,  // leave it out and report it
  // Store what can still be decoded of a damaged JPEG as a new one, and report
  // it; what cannot be decoded at all is skipped.
  kReencode,
};

[[nodiscard]] std::string_view OnBadImageName(OnBadImage policy);

// The record of an image: a serialized Example in three parts that follow one
// another, of which the image is one.
struct ImageRecord {
  std::string before;
  std::string image;
  std::string after;
  std::string reencoded;  // why the image is not the file's bytes; empty: it is
  std::string skipped;    // why there is no record; empty: there is
  // What EXIF data says of turning the image, which was not done; empty:
  // nothing.
  std::string not_turned;
  bool has_seek_index = false;
  bool bad = false;  // the policy for bad images made it what it is
};

struct RecordMakerOptions {
  OnBadImage on_bad_image = OnBadImage::kFail;
  ImageEncoderOptions image = {};  // mend excepted
  SeekEntries seek_index = SeekEntries::kRows;
  int threads = 1;  // calls at once; > 0
};

// Makes records of image files: reads a file, makes the image fit for a record,
// indexes it, and puts the Example around both.
//
// The plan must outlive it. Thread-safe, with at most options.threads calls at
// once. Throws IoError, and DataError naming the file for a bad image that is
// not to be skipped.
class RecordMaker {
 public:
  // raw: where images lie in raw files; may be null where none does.
  RecordMaker(const std::vector<ImageClass>& classes, const RawImages* raw,
              const RecordMakerOptions& options);

  // fetched: what FetchImage() gave for it, or null without.
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
  // The encoders that no call is using.
  BoundedQueue<std::unique_ptr<ImageEncoder>> encoders_;
};

}  // namespace infeed
