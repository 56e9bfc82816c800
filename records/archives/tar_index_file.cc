#include "records/archives/tar_index_file.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "records/bytes/payload.h"
#include "records/files/side_format.h"

namespace infeed {
namespace {

constexpr std::string_view kMagic = "infeedTB";
constexpr std::string_view kEnding = ".index";
// Compression and end of the last sample; then the offsets, then the labels.
constexpr std::size_t kLeadingNumbers = 2;

bool AreExtents(const Numbers& offsets, std::int64_t end) {
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    if (offsets[i] < 0 ||
        offsets[i] >= (i + 1 < offsets.size() ? offsets[i + 1] : end)) {
      return false;
    }
  }
  return true;
}

std::optional<TarFileIndex> Parse(const SideFile& file) {
  const Numbers numbers = ParseNumbers(file.payload).value_or(Numbers());
  if (numbers.size() < kLeadingNumbers || numbers.size() % 2 != 0 ||
      numbers[0] < 0 ||
      numbers[0] > static_cast<std::int64_t>(Compression::kZlib)) {
    return std::nullopt;
  }
  const auto samples =
      static_cast<std::ptrdiff_t>((numbers.size() - kLeadingNumbers) / 2);
  const auto offsets = numbers.begin() + kLeadingNumbers;
  TarFileIndex index = {
      .compression = static_cast<Compression>(numbers[0]),
      .samples = {.offsets = Numbers(offsets, offsets + samples),
                  .end = numbers[1],
                  .labels = Numbers(offsets + samples, numbers.end())}};
  return AreExtents(index.samples.offsets, index.samples.end)
             ? std::optional(std::move(index))
             : std::nullopt;
}

}  // namespace

std::optional<TarFileIndex> FindTarIndex(const ByteSource& tar) {
  return FindSideFile(tar, kEnding, kMagic, Parse);
}

std::string SaveTarIndex(const ByteSource& tar, const TarFileIndex& index) {
  std::string payload;
  AppendNumbers(payload, {{static_cast<std::int64_t>(index.compression),
                           index.samples.end}});
  AppendNumbers(payload, index.samples.offsets);
  AppendNumbers(payload, index.samples.labels);
  return SaveSideFile(tar, kEnding, kMagic, payload);
}

}  // namespace infeed
