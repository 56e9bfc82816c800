#include "tools/convert/record_maker.h"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "preprocess/codecs/png_codec.h"
#include "preprocess/codecs/stored_size.h"
#include "records/files/open_source.h"
#include "tools/images/source.h"

namespace infeed {
namespace {

using Features = std::vector<ExampleFeature>;
using Numbers = std::vector<std::int64_t>;
using Texts = std::vector<std::string_view>;

constexpr int kFirstTurned = 5;  // of EXIF's orientations: width is height

std::string OrientationText(const EncodedImage& image) {
  return fmt::format("EXIF orientation {}", image.ignored_orientation);
}

// The list of one member of all objects, as T.
template <typename T, typename Member>
std::vector<T> ListOf(const ImageObjects& annotations, Member member) {
  std::vector<T> list;
  list.reserve(annotations.objects.size());
  for (const AnnotatedObject& object : annotations.objects) {
    list.push_back(static_cast<T>(object.*member));
  }
  return list;
}

std::vector<float> BoxesOf(const ImageObjects& annotations, std::int64_t width,
                           std::int64_t height) {
  const bool has_parts = annotations.format == AnnotationFormat::kYolo;
  const std::array<float, 2> sides = {
      has_parts ? static_cast<float>(width) : 1.0F,
      has_parts ? static_cast<float>(height) : 1.0F};
  std::vector<float> boxes;
  boxes.reserve(4 * annotations.objects.size());
  for (const AnnotatedObject& object : annotations.objects) {
    for (std::size_t i = 0; i < object.box.size(); ++i) {
      boxes.push_back(object.box[i] * sides[i % 2]);
    }
  }
  return boxes;
}

// Adds the features of the objects, sorted by key. Lists may be empty, so that
// every record has the same keys.
void AddObjects(const ImageObjects& annotations, std::int64_t width,
                std::int64_t height, Features& features) {
  const bool is_coco = annotations.format == AnnotationFormat::kCoco;
  if (is_coco) {
    features.push_back({"image/object/area",
                        ListOf<float>(annotations, &AnnotatedObject::area)});
  }
  features.push_back(
      {"image/object/bbox", BoxesOf(annotations, width, height)});
  features.push_back(
      {"image/object/class/label",
       ListOf<std::int64_t>(annotations, &AnnotatedObject::label)});
  features.push_back(
      {"image/object/class/text",
       ListOf<std::string_view>(annotations, &AnnotatedObject::text)});
  if (annotations.format == AnnotationFormat::kVoc) {
    features.push_back(
        {"image/object/difficult",
         ListOf<std::int64_t>(annotations, &AnnotatedObject::is_difficult)});
  }
  if (is_coco) {
    features.push_back(
        {"image/object/is_crowd",
         ListOf<std::int64_t>(annotations, &AnnotatedObject::is_crowd)});
  }
}

void AddIfAny(std::string_view key, std::string_view text, Features& features) {
  if (!text.empty()) {
    features.push_back({key, Texts{text}});
  }
}

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

void CheckAnnotatedSize(const ImageObjects& annotations,
                        const EncodedImage& image) {
  const bool is_turned = image.ignored_orientation != 1;
  if (annotations.format == AnnotationFormat::kYolo) {
    if (is_turned) {
      throw DataError("the boxes are those of the turned image (" +
                      OrientationText(image) +
                      "), the record's would not be: give --exif_rotate");
    }
    return;
  }
  const std::int64_t width = annotations.width;
  const std::int64_t height = annotations.height;
  if ((width == 0 && height == 0) ||
      (width == image.width && height == image.height)) {
    return;
  }
  const bool explains = image.ignored_orientation >= kFirstTurned &&
                        width == image.height && height == image.width;
  throw DataError(fmt::format("has {}x{} pixels, {} says {}x{}{}", image.width,
                              image.height, annotations.file, width, height,
                              explains ? ", the size after its " +
                                             OrientationText(image) +
                                             ": give --exif_rotate"
                                       : ""));
}

void CheckMask(const ImageObjects& annotations, std::string_view mask,
               const ImagenetExample& image) {
  const auto bytes = std::as_bytes(std::span(mask));
  const std::optional<StoredSize> size =
      IsPng(bytes) ? ReadStoredSize(bytes) : std::nullopt;
  const std::string name = "the mask " + PathForMessages(annotations.mask);
  if (!size) {
    throw DataError(name + " is not a PNG");
  }
  if (size->width != image.width || size->height != image.height) {
    throw DataError(fmt::format("{} has {}x{} pixels, the image {}x{}", name,
                                size->width, size->height, image.width,
                                image.height));
  }
}

ExampleParts BuildObjectExample(const ImagenetExample& example,
                                const ImageObjects& annotations,
                                std::string_view mask) {
  Features features = {{"image/channels", Numbers{example.channels}},
                       {"image/colorspace", Texts{example.colorspace}},
                       {"image/filename", Texts{example.filename}},
                       {"image/format", Texts{example.format}},
                       {"image/height", Numbers{example.height}}};
  AddObjects(annotations, example.width, example.height, features);
  AddIfAny("image/seek_index", example.seek_index, features);
  AddIfAny("image/segmentation/class/encoded", mask, features);
  AddIfAny("image/segmentation/class/format", mask.empty() ? "" : "png",
           features);
  AddIfAny("image/source_id", annotations.source_id, features);
  features.push_back({"image/width", Numbers{example.width}});
  return BuildExampleParts(features, kImageKey, example.encoded);
}

std::string ObjectsKey(const ImageObjects& annotations) {
  Features features;
  AddObjects(annotations, 1, 1, features);
  AddIfAny("image/source_id", annotations.source_id, features);
  return BuildExample(features);
}

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
