#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "bench/decoder/window_check.h"
#include "preprocess/jpeg/jpeg.h"
#include "preprocess/jpeg_entropy/seek_index.h"
#include "preprocess/pixels/simd_target.h"

// Of any bytes JpegDecoder makes what libjpeg-turbo makes: the same pixels,
// message and warning, whole, scaled, in windows and through a seek index. An
// index that is not the JPEG's own harms nothing.
namespace infeed {
namespace {

constexpr JpegLimits kLimits = {
    .max_pixels = 1 << 14, .max_scans = 20, .max_memory_bytes = 1 << 24};

std::uint64_t Hash(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const std::byte byte : bytes) {
    hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001B3U;
  }
  return hash ^ hash >> 32;
}

void Compare(const std::string& jpeg, std::uint64_t hash,
             JpegWarnings warnings) {
  constexpr std::array<int, 5> kDenominators = {1, 1, 2, 4, 8};
  WindowChecker checker(
      {.windows = 5,
       .limits = kLimits,
       .warnings = warnings,
       .denominator = kDenominators[hash / 8 % kDenominators.size()]});
  WindowTally tally;
  std::vector<std::string> differences;
  checker.Check({.name = CurrentSimdTarget(),
                 .number = static_cast<std::int64_t>(hash >> 1),
                 .bytes = jpeg},
                tally, differences);
  if (!differences.empty()) {
    std::fprintf(stderr, "%s\n", differences.front().c_str());
  }
  Check(differences.empty(), "both decoders do the same");
}

// Moves some entries between their neighbours.
void Damage(JpegSeekIndex& index, SampleRandom& random) {
  std::vector<SeekEntry>& entries = index.entries;
  for (int i = 0; i < 3; ++i) {
    const std::size_t last = entries.size() - 1;
    const std::size_t at =
        random.Below(static_cast<std::uint32_t>(entries.size()));
    const std::uint32_t low = entries[at == 0 ? 0 : at - 1].byte;
    const std::uint32_t high = entries[std::min(last, at + 1)].byte;
    entries[at] = {.byte = low + random.Below(high - low + 1),
                   .bit = static_cast<std::uint8_t>(random.Below(8)),
                   .dc = {static_cast<std::int16_t>(random.Word()), 0, 0}};
  }
}

void DecodeByForeignIndex(std::span<const std::byte> bytes,
                          std::uint64_t hash) {
  std::optional<JpegSeekIndex> index =
      MakeSeekIndex(bytes, static_cast<int>(hash % 5));
  if (!index) {
    return;
  }
  SampleRandom random({.seed = hash}, RandomStream::kMadeData);
  Damage(*index, random);
  JpegDecoder decoder(kLimits);
  RgbImage image;
  try {
    const JpegInfo info = decoder.ReadHeader(bytes);
    ImageSink sink(image);
    decoder.DecodeWindow({0, 0, info.height, info.width}, sink, &*index);
  } catch (const DataError&) {
    return;
  }
}

void TryBytes(std::span<const std::byte> bytes) {
  static const std::vector<std::string> targets = SupportedSimdTargets();
  const std::uint64_t hash = Hash(bytes);
  UseSimdTarget(targets[hash % targets.size()]);
  const std::string jpeg(reinterpret_cast<const char*>(bytes.data()),
                         bytes.size());
  Compare(jpeg, hash, JpegWarnings::kErrors);
  Compare(jpeg, hash, JpegWarnings::kTolerated);
  DecodeByForeignIndex(bytes, hash);
}

}  // namespace
}  // namespace infeed

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  infeed::TryBytes(std::as_bytes(std::span(data, size)));
  return 0;
}
