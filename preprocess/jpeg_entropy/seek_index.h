#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace infeed {

// A place in a JPEG's scan at which an MCU begins, with everything needed to
// decode from there.
struct SeekEntry {
  std::uint32_t byte = 0;  // offset in the JPEG of the byte with the first bit
  std::uint8_t bit = 0;    // 0..7, 0 is the byte's highest
  std::array<std::int16_t, 3> dc{};  // predictors

  friend bool operator==(const SeekEntry&, const SeekEntry&) = default;
};

// Entries at the start of each run of MCUs: `run` of them, the last run of a
// row shorter, and one more entry for the end of the last row. A partial index
// covers the first rows only, as many as a decoder has read so far; its runs
// are whole rows.
struct JpegSeekIndex {
  int mcus_per_row = 0;
  int mcu_rows = 0;
  int run = 0;  // MCUs, 1..mcus_per_row
  std::vector<SeekEntry> entries{};

  [[nodiscard]] int runs_per_row() const {
    return run > 0 ? (mcus_per_row + run - 1) / run : 0;
  }
  // The number of entries if `rows` rows are covered: one for each run, and one
  // for the end.
  [[nodiscard]] std::size_t entry_count(int rows) const {
    return static_cast<std::size_t>(rows) *
               static_cast<std::size_t>(runs_per_row()) +
           1;
  }
  [[nodiscard]] std::size_t entry_count() const {
    return entry_count(mcu_rows);
  }
  // The number of rows that the entries cover.
  [[nodiscard]] int covered_rows() const {
    const auto runs = static_cast<std::size_t>(runs_per_row());
    return entries.empty() || runs == 0
               ? 0
               : static_cast<int>((entries.size() - 1) / runs);
  }
  [[nodiscard]] bool is_complete() const {
    return entries.size() == entry_count();
  }
  friend bool operator==(const JpegSeekIndex&, const JpegSeekIndex&) = default;
};

// Makes the index of a JPEG: an entry at each row of MCUs, and with run > 0
// also at every run-th MCU of a row. Decodes the whole scan. Returns nullopt
// for a JPEG that is not plain, has restart markers, or whose scan is not
// regular from its first byte to the end marker. Requires: run >= 0.
[[nodiscard]] std::optional<JpegSeekIndex> MakeSeekIndex(
    std::span<const std::byte> jpeg, int run);

// The index as bytes (docs/formats.md), and back. Parse returns false, and
// leaves index unspecified, for bytes that are not an index: it is safe for any
// bytes, and a parsed index covers at least one row, with entries in ascending
// order. It takes about 9 ns an entry, and allocates nothing if the index has
// room from earlier use, so parsing all rows is cheap even if only some are
// needed. SerializeSeekIndex() requires: entry_count() entries for at least one
// row, the first not at bit 0, each at a later bit than the one before.
[[nodiscard]] std::string SerializeSeekIndex(const JpegSeekIndex& index);
[[nodiscard]] bool ParseSeekIndex(std::span<const std::byte> bytes,
                                  JpegSeekIndex& index);

}  // namespace infeed
