#include "preprocess/codecs/tiff_directory.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace infeed {
namespace {

constexpr std::size_t kEntryBytes = 12;
constexpr std::size_t kMaxValues = 16;

bool StartsTiff(std::span<const std::byte> bytes, const char* start) {
  constexpr std::size_t kStartBytes = 4;
  return bytes.size() >= kStartBytes &&
         std::memcmp(bytes.data(), start, kStartBytes) == 0;
}

// The bytes of a value; 0 for a type that is no integer's.
std::size_t BytesOfType(std::int64_t type) {
  switch (type) {
    case 1:  // BYTE
    case 6:  // SBYTE
      return 1;
    case 3:  // SHORT
    case 8:  // SSHORT
      return 2;
    case 4:   // LONG
    case 9:   // SLONG
    case 13:  // IFD
      return 4;
    case 16:  // LONG8
    case 17:  // SLONG8
      return 8;
    default:
      return 0;
  }
}

}  // namespace

TiffDirectory::TiffDirectory(std::span<const std::byte> tiff)
    : fields_(tiff, StartsTiff(tiff, "MM\0*")) {
  if (StartsTiff(tiff, "MM\0*") || StartsTiff(tiff, "II*\0")) {
    const auto place = static_cast<std::size_t>(fields_.At(4, 4));
    first_entry_ = place + 2;
    entries_ = std::min(static_cast<std::size_t>(fields_.At(place, 2)),
                        tiff.size() / kEntryBytes);
  }
}

std::vector<std::int64_t> TiffDirectory::Integers(int tag) const {
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < entries_; ++i) {
    const std::size_t entry = first_entry_ + i * kEntryBytes;
    if (fields_.At(entry, 2) == tag) {
      AddValues(entry, values);
    }
  }
  return values;
}

void TiffDirectory::AddValues(std::size_t entry,
                              std::vector<std::int64_t>& values) const {
  constexpr std::size_t kInPlace = 4;  // more bytes are where their offset says
  const std::size_t bytes = BytesOfType(fields_.At(entry + 2, 2));
  const auto count = static_cast<std::size_t>(fields_.At(entry + 4, 4));
  const std::optional<std::int64_t> offset = fields_.Find(entry + 8, kInPlace);
  if (bytes == 0 || !offset) {
    return;
  }
  const std::size_t place =
      bytes * count <= kInPlace ? entry + 8 : static_cast<std::size_t>(*offset);
  for (std::size_t i = 0; i < count && values.size() < kMaxValues; ++i) {
    const std::optional<std::int64_t> value =
        fields_.Find(place + i * bytes, bytes);
    if (!value) {
      return;
    }
    values.push_back(*value);
  }
}

}  // namespace infeed
