#include "records/archives/tar_example.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/error.h"
#include "records/bytes/plain_text.h"
#include "records/example/builder.h"

namespace infeed {
namespace {

constexpr std::size_t kMaxFileNameBytes = 1024;

// The names of a sample's members, for messages.
std::string NamesOf(const TarSample& sample) {
  std::string names;
  for (const SamplePart& part : sample.parts) {
    names.append(names.empty() ? "" : ", ")
        .append(TarNameForMessages(BaseName(part.name)));
  }
  return names;
}

bool IsImage(const SamplePart& part, std::string_view image_key) {
  if (image_key == kImageKey) {
    return IsImageEnding(part.ending);
  }
  image_key.remove_prefix(image_key.starts_with('.') ? 1 : 0);
  return part.ending == LowerCase(image_key);
}

// nullptr: there are several, or none is wanted.
const SamplePart* ImageOf(const TarSample& sample, std::string_view image_key) {
  const SamplePart* image = nullptr;
  if (image_key.empty()) {
    return image;
  }
  for (const SamplePart& part : sample.parts) {
    if (!IsImage(part, image_key)) {
      continue;
    }
    if (image != nullptr) {
      return nullptr;
    }
    image = &part;
  }
  if (image == nullptr) {
    throw DataError(
        "sample " + TarNameForMessages(sample.key) + " has no " +
        (image_key == kImageKey ? "image" : std::string(image_key)) +
        " (its members: " + NamesOf(sample) + ")");
  }
  return image;
}

std::optional<std::int64_t> LabelOf(const TarSample& sample) {
  for (const std::string_view ending : {"cls", "json"}) {
    const auto part =
        std::ranges::find(sample.parts, ending, &SamplePart::ending);
    if (part == sample.parts.end()) {
      continue;
    }
    const TarLabel label = ParseTarLabel(ending, part->bytes);
    if (label.is_given && !label.number) {
      throw DataError("the label in tar member " +
                      TarNameForMessages(part->name) +
                      " is not a whole number");
    }
    if (label.is_given) {
      return label.number;
    }
  }
  return std::nullopt;
}

std::optional<std::int64_t> NumberOf(std::int64_t indexed_label) {
  return indexed_label == kNoLabel ? std::nullopt
                                   : std::optional(indexed_label);
}

void CheckNames(const TarSample& sample, const SamplePart* image) {
  if (image != nullptr && BaseName(image->name).size() > kMaxFileNameBytes) {
    throw DataError("the file name of tar member " +
                    TarNameForMessages(image->name) +
                    " is longer than 1024 bytes");
  }
  for (const SamplePart& part : sample.parts) {
    if (!IsUtf8(part.ending)) {  // Keys of an Example must be.
      throw DataError("the ending of tar member " +
                      TarNameForMessages(part.name) + " is not UTF-8");
    }
  }
}

// The image apart. label: may be absent.
std::vector<ExampleFeature> FeaturesOf(const TarSample& sample,
                                       const SamplePart* image,
                                       std::optional<std::int64_t> label) {
  using Texts = std::vector<std::string_view>;
  std::vector<ExampleFeature> features = {{"__key__", Texts{sample.key}}};
  if (label) {
    features.push_back({kLabelKey, std::vector<std::int64_t>{*label}});
  }
  if (image != nullptr) {
    features.push_back({"image/filename", Texts{BaseName(image->name)}});
  }
  for (const SamplePart& part : sample.parts) {
    if (&part != image) {
      features.push_back({part.ending, Texts{AsChars(part.bytes)}});
    }
  }
  return features;
}

}  // namespace

std::span<const std::byte> BuildTarExample(const TarSample& sample,
                                           std::vector<std::byte>& buffer,
                                           std::string_view image_key,
                                           std::int64_t indexed_label) {
  const SamplePart* const image = ImageOf(sample, image_key);
  CheckNames(sample, image);
  const std::optional<std::int64_t> label =
      image_key.empty() ? NumberOf(indexed_label) : LabelOf(sample);
  const std::vector<ExampleFeature> features = FeaturesOf(sample, image, label);
  if (image == nullptr) {
    const std::string example = BuildExample(features);
    return WriteExample({.before = {}, .image = example, .after = {}}, buffer);
  }
  return WriteExample(
      BuildExampleParts(features, image_key, AsChars(image->bytes)), buffer);
}

}  // namespace infeed
