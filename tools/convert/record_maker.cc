#include "tools/convert/record_maker.h"

#include <cstddef>
#include <span>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "records/example/builder.h"
#include "records/files/open_source.h"
#include "tools/convert/object_features.h"
#include "tools/images/source.h"

namespace infeed {
namespace {

constexpr std::int64_t kMaxMaskBytes = std::int64_t{1} << 30;

// An encoder on loan for one image.
class LentEncoder {
 public:
  using Queue = BoundedQueue<std::unique_ptr<ImageEncoder>>;

  explicit LentEncoder(Queue& queue)
      : queue_(queue), encoder_(std::move(queue.Pop().value())) {}
  ~LentEncoder() { queue_.Push(std::move(encoder_)); }
  LentEncoder(const LentEncoder&) = delete;
  LentEncoder& operator=(const LentEncoder&) = delete;

  ImageEncoder* operator->() { return encoder_.get(); }

 private:
  Queue& queue_;
  std::unique_ptr<ImageEncoder> encoder_;
};

const ImageClass& ClassOf(const ConversionPlan& plan, const ImageFile& image) {
  return plan.classes[static_cast<std::size_t>(image.class_index)];
}

// Without the keys of the class.
ImagenetExample MakeExample(const ImageFile& image, const EncodedImage& encoded,
                            std::string_view seek_index) {
  ImagenetExample example;
  example.height = encoded.height;
  example.width = encoded.width;
  example.filename = ImageName(image);
  example.format = encoded.format;
  example.seek_index = seek_index;
  (encoded.format == "packed" ? example.packed : example.encoded) =
      encoded.bytes;
  return example;
}

ExampleParts BuildParts(const ConversionPlan& plan, const ImageFile& image,
                        ImagenetExample example) {
  if (image.objects != nullptr) {
    std::string mask;
    if (const std::string& path = image.objects->mask; !path.empty()) {
      mask = ReadWhole(path, kMaxMaskBytes);
      CheckMask(*image.objects, mask, example);
    }
    return BuildObjectExample(example, *image.objects, mask);
  }
  const ImageClass& image_class = ClassOf(plan, image);
  example.label = image.class_index + 1;
  example.synset = image_class.name;
  example.text = image_class.text;
  return BuildExampleParts(example);
}

// The text that webdataset's users read as sample["json"]. File names may have
// any bytes; JSON is UTF-8.
TarSampleTexts MakeSampleTexts(const ImageFile& image,
                               const ImageClass& image_class,
                               const EncodedImage& encoded) {
  using Json = nlohmann::ordered_json;
  const Json json = {{"label", image.class_index},
                     {"class_name", image_class.name},
                     {"filename", ImageName(image)},
                     {"width", encoded.width},
                     {"height", encoded.height}};
  return {.ending = encoded.format == kJpegFormat ? "jpg" : "png",
          .label = image.class_index,
          .json = json.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

}  // namespace

RecordMaker::RecordMaker(const ConversionPlan& plan,
                         const ConverterOptions& options, int threads)
    : plan_(plan),
      on_bad_image_(options.on_bad_image),
      seek_index_(plan.format == ShardFormat::kWebdataset
                      ? SeekEntries::kNone
                      : WantedSeekEntries(options)),
      encoders_(static_cast<std::size_t>(threads)) {
  ImageEncoderOptions image = options.image;
  image.mend = on_bad_image_ == OnBadImage::kReencode;
  for (int i = 0; i < threads; ++i) {
    encoders_.Push(std::make_unique<ImageEncoder>(image));
  }
}

ImageRecord RecordMaker::Make(const ImageFile& image,
                              const ByteSource* fetched) {
  ImageRecord record;
  try {
    EncodedImage encoded = Encode(image, fetched);
    if (image.objects != nullptr) {
      CheckAnnotatedSize(*image.objects, encoded);
    }
    if (plan_.format == ShardFormat::kWebdataset) {
      record.sample = MakeSampleTexts(image, ClassOf(plan_, image), encoded);
    } else {
      MakeExampleParts(image, encoded, record);
    }
    record.image = std::move(encoded.bytes);
    record.reencoded = std::move(encoded.reencoded);
    record.bad = encoded.mended;
    if (encoded.ignored_orientation != 1) {
      record.not_turned =
          "EXIF orientation " + std::to_string(encoded.ignored_orientation);
    }
  } catch (const DataError& error) {
    if (on_bad_image_ == OnBadImage::kFail) {
      throw DataError(
          {.path = ImagePathForMessages(image)},
          error.reason() + " (--on_bad_image skip leaves such images out)");
    }
    record.skipped = error.reason();
    record.bad = true;
  }
  return record;
}

void RecordMaker::MakeExampleParts(const ImageFile& image,
                                   const EncodedImage& encoded,
                                   ImageRecord& record) const {
  const std::string seek_index = MakeSealedSeekIndex(
      std::as_bytes(std::span(encoded.bytes)),
      encoded.format == kJpegFormat ? seek_index_ : SeekEntries::kNone);
  ExampleParts parts =
      BuildParts(plan_, image, MakeExample(image, encoded, seek_index));
  record.has_seek_index = !seek_index.empty();
  record.before = std::move(parts.before);
  record.after = std::move(parts.after);
}

EncodedImage RecordMaker::Encode(const ImageFile& image,
                                 const ByteSource* fetched) {
  if (image.raw_index >= 0) {
    Check(plan_.raw != nullptr, "raw images come with their files");
    return LentEncoder(encoders_)->EncodeRaw(*plan_.raw, image);
  }
  std::string file = ReadImage(image, fetched);
  return LentEncoder(encoders_)->Encode(std::move(file));
}

}  // namespace infeed
