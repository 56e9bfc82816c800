#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "records/archives/tar_example.h"
#include "records/archives/tar_member.h"
#include "records/archives/tar_samples.h"
#include "records/archives/tar_writer.h"
#include "records/bytes/byte_source.h"
#include "records/example/imagenet_example.h"
#include "tests/support/bytes.h"
#include "tests/support/tar_file.h"

// Any bytes are an archive or a DataError; each sample that is found can be
// parsed or is a DataError, and so is its Example.
namespace infeed {
namespace {

constexpr std::int64_t kMaxRecordBytes = 1 << 20;

// Reads as a stream would allow it: offsets may not decrease.
std::optional<TarIndex> ScanForward(std::string_view text) {
  std::int64_t last = 0;
  const ReadTarBytes memory = BytesOf(AsBytes(text));
  try {
    return ScanTar(
               [&](std::int64_t offset, std::size_t bytes) {
                 Check(offset >= std::exchange(last, offset),
                       "the scan goes forward");
                 return memory(offset, bytes);
               },
               "fuzz", kMaxRecordBytes)
        .samples;
  } catch (const DataError& error) {
    Check(error.origin().path == "fuzz" && error.origin().offset >= 0,
          "the error says where");
    return std::nullopt;
  }
}

std::optional<TarIndex> ScanPages(const std::string& text) {
  const MemorySource source("fuzz", text);
  try {
    return ScanTar(BytesOf(source), "fuzz", kMaxRecordBytes).samples;
  } catch (const DataError&) {
    return std::nullopt;
  }
}

std::optional<TarSample> Parse(std::span<const std::byte> extent) {
  try {
    return ParseTarSample(extent);
  } catch (const DataError&) {
    return std::nullopt;
  }
}

void CheckExample(const TarSample& sample, std::size_t extent_bytes,
                  std::int64_t label) {
  std::vector<std::byte> buffer;
  try {
    const auto example = BuildTarExample(sample, buffer);
    Check(example.size() <= extent_bytes + kTarExampleExtraBytes,
          "an Example is little longer than its sample");
    const ImagenetExampleView view = ParseImagenetExample(example);
    Check(view.label == label, "the Example has the index's label");
    for (const SamplePart& part : sample.parts) {
      if (IsImageEnding(part.ending)) {
        Check(AsText(view.encoded) == AsText(part.bytes),
              "the Example has the first image");
        break;
      }
    }
  } catch (const DataError&) {
    return;
  }
}

// Written again, the sample is the same.
void CheckWritten(const TarSample& sample) {
  TarSink sink;
  TarWriter writer(sink);
  for (const SamplePart& part : sample.parts) {
    writer.Add(part.name, part.bytes);
  }
  const TarSample again = ParseTarSample(AsBytes(sink.text()));
  Check(again.key == sample.key && again.parts.size() == sample.parts.size(),
        "a written sample has all parts");
  for (std::size_t i = 0; i < sample.parts.size(); ++i) {
    Check(again.parts[i].name == sample.parts[i].name &&
              again.parts[i].ending == sample.parts[i].ending &&
              AsText(again.parts[i].bytes) == AsText(sample.parts[i].bytes),
          "a written part is the same");
  }
}

void CheckSample(std::span<const std::byte> extent, std::int64_t label) {
  const std::optional<TarSample> sample = Parse(extent);
  if (!sample) {
    return;
  }
  for (const SamplePart& part : sample->parts) {
    Check(part.bytes.data() >= extent.data() &&
              part.bytes.data() + part.bytes.size() <=
                  extent.data() + extent.size(),
          "a part lies in its sample");
  }
  CheckExample(*sample, extent.size(), label);
  CheckWritten(*sample);
}

void CheckSamples(std::string_view text, const TarIndex& index) {
  Check(index.labels.size() == index.offsets.size(), "a label for each sample");
  for (std::size_t i = 0; i < index.offsets.size(); ++i) {
    const std::int64_t begin = index.offsets[i];
    const std::int64_t end =
        i + 1 < index.offsets.size() ? index.offsets[i + 1] : index.end;
    Check(begin < end && end <= std::ssize(text) &&
              end - begin <= kMaxRecordBytes,
          "a sample lies in the archive");
    CheckSample(AsBytes(text).subspan(static_cast<std::size_t>(begin),
                                      static_cast<std::size_t>(end - begin)),
                index.labels[i]);
  }
}

}  // namespace
}  // namespace infeed

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::optional<infeed::TarIndex> index = infeed::ScanForward(text);
  infeed::Check(infeed::ScanPages(text) == index, "pages change nothing");
  if (index) {
    infeed::CheckSamples(text, *index);
  }
  (void)infeed::Parse(infeed::AsBytes(text));
  return 0;
}
