#include "records/archives/tar_example.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "records/bytes/base_name.h"
#include "records/bytes/plain_text.h"
#include "records/example/builder.h"
#include "records/example/imagenet_example.h"

namespace infeed {
namespace {

constexpr std::size_t kMaxFileNameBytes = 1024;

std::string_view TextOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
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

// The image apart.
std::vector<ExampleFeature> FeaturesOf(const TarSample& sample,
                                       const SamplePart& image) {
  using Texts = std::vector<std::string_view>;
  std::vector<ExampleFeature> features = {{"__key__", Texts{sample.key}}};
  if (const std::optional<std::int64_t> label = LabelOf(sample)) {
    features.push_back({kLabelKey, std::vector<std::int64_t>{*label}});
  }
  features.push_back({"image/filename", Texts{BaseName(image.name)}});
  for (const SamplePart& part : sample.parts) {
    if (&part != &image) {
      features.push_back({part.ending, Texts{TextOf(part.bytes)}});
    }
  }
  return features;
}

}  // namespace

std::span<const std::byte> BuildTarExample(const TarSample& sample,
                                           std::vector<std::byte>& buffer) {
  const SamplePart& image = ImageOf(sample);
  CheckNames(sample, image);
  return WriteExample(BuildExampleParts(FeaturesOf(sample, image), kImageKey,
                                        TextOf(image.bytes)),
                      buffer);
}

}  // namespace infeed
