#include "tools/convert/object_features.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "preprocess/codecs/png_codec.h"
#include "preprocess/codecs/stored_size.h"
#include "records/files/open_source.h"

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

}  // namespace infeed
