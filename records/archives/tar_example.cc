#include "records/archives/tar_example.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/varint.h"
#include "records/bytes/base_name.h"
#include "records/bytes/plain_text.h"
#include "records/example/imagenet_example.h"

namespace infeed {
namespace {

constexpr std::size_t kMaxFileNameBytes = 1024;

// Tags of length-delimited fields 1, 2 and 3: of an Example's features and
// their entries, an entry's key and feature, a feature's list of bytes (1) or
// int64 (3), and a list's values.
constexpr char kTag1 = 0x0A;
constexpr char kTag2 = 0x12;
constexpr char kTag3 = 0x1A;

// One feature on the wire: its head, then its value.
struct WireFeature {
  std::string head;
  std::span<const std::byte> value;  // borrowed
};

void AppendTag(char tag, std::size_t length, std::string& out) {
  out.push_back(tag);
  AppendVarint(length, out);
}

std::size_t TaggedBytes(std::size_t length) {
  std::string tag;
  AppendTag(kTag1, length, tag);
  return tag.size() + length;
}

// What is before the value of a list of one value.
std::string FeatureHead(std::string_view key, char list, std::size_t value) {
  const std::size_t list_bytes = TaggedBytes(value);
  const std::size_t feature_bytes = TaggedBytes(list_bytes);
  std::string head;
  AppendTag(kTag1, TaggedBytes(key.size()) + TaggedBytes(feature_bytes), head);
  AppendTag(kTag1, key.size(), head);
  head.append(key);
  AppendTag(kTag2, feature_bytes, head);
  AppendTag(list, list_bytes, head);
  AppendTag(kTag1, value, head);
  return head;
}

WireFeature BytesFeature(std::string_view key,
                         std::span<const std::byte> value) {
  return {FeatureHead(key, kTag1, value.size()), value};
}

WireFeature TextFeature(std::string_view key, std::string_view value) {
  return BytesFeature(key, std::as_bytes(std::span(value)));
}

WireFeature NumberFeature(std::string_view key, std::int64_t value) {
  std::string packed;
  AppendVarint(static_cast<std::uint64_t>(value), packed);
  return {FeatureHead(key, kTag3, packed.size()).append(packed), {}};
}

const SamplePart& ImageOf(const TarSample& sample) {
  std::string names;
  for (const SamplePart& part : sample.parts) {
    if (IsImageEnding(part.ending)) {
      return part;
    }
    names.append(names.empty() ? "" : ", ")
        .append(TarNameForMessages(BaseName(part.name)));
  }
  throw DataError("sample " + TarNameForMessages(sample.key) +
                  " has no image (its members: " + names + ")");
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

void CheckNames(const TarSample& sample, const SamplePart& image) {
  if (BaseName(image.name).size() > kMaxFileNameBytes) {
    throw DataError("the file name of tar member " +
                    TarNameForMessages(image.name) +
                    " is longer than 1024 bytes");
  }
  for (const SamplePart& part : sample.parts) {
    if (!IsUtf8(part.ending)) {  // Keys of an Example must be.
      throw DataError("the ending of tar member " +
                      TarNameForMessages(part.name) + " is not UTF-8");
    }
  }
}

std::vector<WireFeature> FeaturesOf(const TarSample& sample) {
  const SamplePart& image = ImageOf(sample);
  CheckNames(sample, image);
  std::vector<WireFeature> features;
  features.push_back(TextFeature("__key__", sample.key));
  if (const std::optional<std::int64_t> label = LabelOf(sample)) {
    features.push_back(NumberFeature(kLabelKey, *label));
  }
  features.push_back(TextFeature("image/filename", BaseName(image.name)));
  for (const SamplePart& part : sample.parts) {
    if (&part != &image) {
      features.push_back(BytesFeature(part.ending, part.bytes));
    }
  }
  features.push_back(BytesFeature(kImageKey, image.bytes));
  return features;
}

}  // namespace

std::span<const std::byte> BuildTarExample(const TarSample& sample,
                                           std::vector<std::byte>& buffer) {
  const std::vector<WireFeature> features = FeaturesOf(sample);
  std::size_t feature_bytes = 0;
  for (const WireFeature& feature : features) {
    feature_bytes += feature.head.size() + feature.value.size();
  }
  std::string start;
  AppendTag(kTag1, feature_bytes, start);
  const std::size_t bytes = start.size() + feature_bytes;
  buffer.resize(std::max(buffer.size(), bytes));
  auto end =
      std::ranges::copy(std::as_bytes(std::span(start)), buffer.begin()).out;
  for (const WireFeature& feature : features) {
    end = std::ranges::copy(std::as_bytes(std::span(feature.head)), end).out;
    end = std::ranges::copy(feature.value, end).out;
  }
  return std::span(buffer).first(bytes);
}

}  // namespace infeed
