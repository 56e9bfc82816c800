#include "preprocess/jpeg_entropy/seek_index.h"

#include <bit>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/number_bytes.h"

namespace infeed {
namespace {

// The first byte: whether an index is complete.
constexpr std::byte kComplete{1};
constexpr std::byte kPartial{2};
constexpr int kComponents = 3;
constexpr std::uint64_t kMaxMcus = 65535 / 8 + 1;  // per side
constexpr std::uint64_t kMaxBit =
    std::uint64_t{std::numeric_limits<std::uint32_t>::max()} * 8 + 7;
constexpr int kMaxVarintBytes = 5;  // 35 bits: enough for any place in a JPEG

std::uint64_t BitOf(const SeekEntry& entry) {
  return std::uint64_t{entry.byte} * 8 + entry.bit;
}

std::uint64_t Zigzag(int value) {
  const auto bits = static_cast<std::uint32_t>(value);
  return bits << 1 ^ (value < 0 ? 0xFFFFFFFFU : 0U);
}

std::int64_t FromZigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^
         -static_cast<std::int64_t>(value & 1);
}

// Trailing components whose predictors are always 0, as in a gray image, are
// not stored.
int StoredComponents(const JpegSeekIndex& index) {
  for (const SeekEntry& entry : index.entries) {
    if (entry.dc[1] != 0 || entry.dc[2] != 0) {
      return kComponents;
    }
  }
  return 1;
}

// Reads varints from the front of bytes.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  [[nodiscard]] std::size_t left() const { return bytes_.size(); }

  // False at the end, or for a number of more than kMaxVarintBytes.
  [[nodiscard]] bool Take(std::uint64_t& value) {
    value = 0;
    for (std::size_t i = 0; i < kMaxVarintBytes && i < bytes_.size(); ++i) {
      const auto byte = std::to_integer<std::uint64_t>(bytes_[i]);
      value |= (byte & 0x7F) << (7 * i);
      if (byte < 0x80) {
        bytes_ = bytes_.subspan(i + 1);
        return true;
      }
    }
    return false;
  }

  // Reads the numbers of an entry. They are small and nearly always fit in
  // eight bytes, from which they are read without a branch.
  template <std::size_t kNumbers>
  [[nodiscard]] bool Take(std::array<std::uint64_t, kNumbers>& values) {
    if constexpr (std::endian::native == std::endian::little) {
      if (bytes_.size() >= sizeof(std::uint64_t) && TakeFromWord(values)) {
        return true;
      }
    }
    for (std::uint64_t& value : values) {
      if (!Take(value)) {
        return false;
      }
    }
    return true;
  }

 private:
  static constexpr std::uint64_t kStops = 0x8080808080808080U;

  // Joins 4 groups of 7 bits to a number.
  static std::uint64_t Gather(std::uint64_t groups) {
    groups = (groups & 0x007F007FU) | (groups & 0x7F007F00U) >> 1;
    return (groups & 0x3FFFU) | (groups & 0x3FFF0000U) >> 2;
  }

  template <std::size_t kNumbers>
  bool TakeFromWord(std::array<std::uint64_t, kNumbers>& values) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes_.data(), sizeof(word));
    // A bit in the last byte of each number.
    std::uint64_t stops = ~word & kStops;
    std::uint64_t last = stops;
    for (std::size_t i = 1; i < kNumbers; ++i) {
      last &= last - 1;  // 0 stays 0
    }
    const std::uint64_t more = stops ^ kStops;
    if (last == 0 || (more & more >> 8 & more >> 16 & more >> 24) != 0) {
      return false;  // Not all numbers end here, or one is of 5 bytes.
    }
    for (std::uint64_t& value : values) {
      // `bits` excludes the stop bit, bit 7 of the last byte.
      const int bits = std::countr_zero(stops);
      value = Gather(word & ((std::uint64_t{1} << bits) - 1));
      // Two shifts, as the sum may be 64.
      word = word >> bits >> 1;
      stops = stops >> bits >> 1;
      bytes_ = bytes_.subspan(static_cast<std::size_t>(bits) / 8 + 1);
    }
    return true;
  }

  std::span<const std::byte> bytes_;
};

// Reads the header before the entries, and the number of rows that they cover;
// false if it is invalid.
bool ReadSizes(Reader& reader, bool is_partial, JpegSeekIndex& index,
               int& covered_rows) {
  std::uint64_t mcus_per_row = 0;
  std::uint64_t mcu_rows = 0;
  std::uint64_t run = 0;
  if (!reader.Take(mcus_per_row) || !reader.Take(mcu_rows) ||
      !reader.Take(run) || mcus_per_row < 1 || mcus_per_row > kMaxMcus ||
      mcu_rows < 1 || mcu_rows > kMaxMcus || run < 1 || run > mcus_per_row) {
    return false;
  }
  index.mcus_per_row = static_cast<int>(mcus_per_row);
  index.mcu_rows = static_cast<int>(mcu_rows);
  index.run = static_cast<int>(run);
  std::uint64_t covered = mcu_rows;
  if (is_partial && (!reader.Take(covered) || covered < 1 ||
                     covered >= mcu_rows || run != mcus_per_row)) {
    return false;
  }
  covered_rows = static_cast<int>(covered);
  return true;
}

// Adds the stored differences to an entry, which gives the next entry.
template <std::size_t kNumbers>
bool Advance(const std::array<std::uint64_t, kNumbers>& values,
             SeekEntry& entry) {
  const std::uint64_t bit = BitOf(entry) + values[0];
  bool good = values[0] > 0 && bit <= kMaxBit;
  entry.byte = static_cast<std::uint32_t>(bit / 8);
  entry.bit = static_cast<std::uint8_t>(bit % 8);
  for (std::size_t i = 0; i + 1 < kNumbers; ++i) {
    const std::int64_t dc = entry.dc[i] + FromZigzag(values[1 + i]);
    entry.dc[i] = static_cast<std::int16_t>(dc);
    good = good && entry.dc[i] == dc;
  }
  return good;
}

template <std::size_t kStored>
bool ReadEntries(Reader reader, int covered_rows, JpegSeekIndex& index) {
  std::array<std::uint64_t, 1 + kStored> values{};
  const std::size_t count = index.entry_count(covered_rows);
  if (count > reader.left() / values.size()) {
    return false;
  }
  index.entries.resize(count);
  SeekEntry entry;
  for (SeekEntry& place : index.entries) {
    if (!reader.Take(values) || !Advance(values, entry)) {
      return false;
    }
    place = entry;
  }
  return reader.left() == 0;
}

}  // namespace

std::string SerializeSeekIndex(const JpegSeekIndex& index) {
  const int covered = index.run > 0 ? index.covered_rows() : 0;
  Check(covered > 0 && covered <= index.mcu_rows &&
            index.entries.size() == index.entry_count(covered) &&
            (index.is_complete() || index.run == index.mcus_per_row),
        "a seek index has all entries of its rows");
  const int components = StoredComponents(index);
  std::string out = {
      static_cast<char>(index.is_complete() ? kComplete : kPartial),
      static_cast<char>(components)};
  AppendVarint(static_cast<std::uint64_t>(index.mcus_per_row), out);
  AppendVarint(static_cast<std::uint64_t>(index.mcu_rows), out);
  AppendVarint(static_cast<std::uint64_t>(index.run), out);
  if (!index.is_complete()) {
    AppendVarint(static_cast<std::uint64_t>(covered), out);
  }
  SeekEntry last;
  for (const SeekEntry& entry : index.entries) {
    Check(BitOf(entry) > BitOf(last), "a seek index is ascending");
    AppendVarint(BitOf(entry) - BitOf(last), out);
    for (std::size_t i = 0; i < static_cast<std::size_t>(components); ++i) {
      AppendVarint(Zigzag(entry.dc[i] - last.dc[i]), out);
    }
    last = entry;
  }
  return out;
}

bool ParseSeekIndex(std::span<const std::byte> bytes, JpegSeekIndex& index) {
  if (bytes.size() < 2 || (bytes[0] != kComplete && bytes[0] != kPartial)) {
    return false;
  }
  const int stored = std::to_integer<int>(bytes[1]);
  Reader reader(bytes.subspan(2));
  int covered = 0;
  if (!ReadSizes(reader, bytes[0] == kPartial, index, covered)) {
    return false;
  }
  return stored == 1 ? ReadEntries<1>(reader, covered, index)
         : stored == kComponents
             ? ReadEntries<kComponents>(reader, covered, index)
             : false;
}

}  // namespace infeed
