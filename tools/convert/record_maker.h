#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/bounded_queue.h"
#include "records/bytes/byte_source.h"
#include "records/example/builder.h"
#include "records/example/imagenet_example.h"
#include "tools/convert/converter_options.h"
#include "tools/convert/image_encoder.h"
#include "tools/convert/plan.h"
#include "tools/images/annotations.h"

namespace infeed {

// Throws DataError, with the reason in the EXIF data if it is there, unless the
// boxes of the annotations are those of the encoded image.
void CheckAnnotatedSize(const ImageObjects& annotations,
                        const EncodedImage& image);

// Throws DataError, naming the file of the mask, unless it is a PNG of the
// image's size by its header. mask: its bytes.
void CheckMask(const ImageObjects& annotations, std::string_view mask,
               const ImagenetExample& image);

// Returns the Example of an image with boxes, in parts: the keys of `example`
// but for those of the class, and the keys of its objects in
// docs/converter.md. Boxes are stored in pixels. mask: the bytes of
// annotations.mask.
[[nodiscard]] ExampleParts BuildObjectExample(const ImagenetExample& example,
                                              const ImageObjects& annotations,
                                              std::string_view mask);

// Bytes that are equal for equal objects.
[[nodiscard]] std::string ObjectsKey(const ImageObjects& annotations);

// The members of a tar's sample beside the image.
struct TarSampleTexts {
  std::string_view ending = {};  // of the image's member: "jpg"
  std::int64_t label = 0;        // from 0
  std::string json = {};         // an object; docs/converter.md has its members
};

// The record of an image, in the plan's format: for TFRecords a serialized
// Example in three consecutive parts, one of which is the image; for tars the
// image and `sample`.
struct ImageRecord {
  std::string before;
  std::string image;
  std::string after;
  TarSampleTexts sample;
  std::string reencoded;  // why it differs from the file; empty: it is equal
  std::string skipped;    // why there is no record; empty: there is one
  // The turn in the EXIF data that was not done; empty: none.
  std::string not_turned;
  bool has_seek_index = false;
  bool bad = false;  // the policy for bad images was applied
};

// Makes records of image files: reads a file, encodes the image for a record,
// makes its seek index, and builds the Example of both, or a tar's sample,
// which has no seek index.
//
// The plan must outlive it. Thread-safe; while `threads` calls encode, others
// wait. Throws IoError, and DataError naming the file for a bad image
// that is not to be skipped.
class RecordMaker {
 public:
  // threads: images encoded at once; > 0.
  RecordMaker(const ConversionPlan& plan, const ConverterOptions& options,
              int threads);

  // fetched: the result of FetchImage() for the image, or null.
  [[nodiscard]] ImageRecord Make(const ImageFile& image,
                                 const ByteSource* fetched = nullptr);
  [[nodiscard]] OnBadImage on_bad_image() const { return on_bad_image_; }
  [[nodiscard]] SeekEntries seek_index() const { return seek_index_; }

 private:
  [[nodiscard]] EncodedImage Encode(const ImageFile& image,
                                    const ByteSource* fetched);
  void MakeExampleParts(const ImageFile& image, const EncodedImage& encoded,
                        ImageRecord& record) const;

  const ConversionPlan& plan_;
  OnBadImage on_bad_image_;
  SeekEntries seek_index_;
  // Idle encoders.
  BoundedQueue<std::unique_ptr<ImageEncoder>> encoders_;
};

}  // namespace infeed
