#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace infeed {

// Which places of a JPEG's scan its seek index has.
enum class SeekEntries {
  kNone,      // there is no index
  kRows,      // the start of each row of MCUs: 0.3 % of the JPEG
  kEvery8th,  // and each 8th MCU of a row: 2 %
  kEvery4th,  // or each 4th: 4 %
};

// By what flags call them: none, rows, 8, 4.
[[nodiscard]] const std::map<std::string, SeekEntries>& SeekEntriesNames();
[[nodiscard]] std::string_view SeekEntriesName(SeekEntries entries);

// As MakeSeekIndex() takes it: MCUs from entry to entry, 0 for rows.
// Requires: not kNone.
[[nodiscard]] int SeekRun(SeekEntries entries);

// Returns the sealed seek index of an image's bytes
// (records/store/seek_feature.h); empty where there is none: for an image that
// is no JPEG, or a JPEG that is progressive, has restart markers or is not
// regular to its last bit. Decodes the whole scan.
[[nodiscard]] std::string MakeSealedSeekIndex(std::span<const std::byte> image,
                                              SeekEntries entries);

}  // namespace infeed
