#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/choices.h"

namespace infeed {

// The places of a JPEG's scan that its seek index contains.
enum class SeekEntries {
  kNone,      // no index
  kRows,      // the start of each row of MCUs: 0.3 % of the JPEG
  kEvery8th,  // and every 8th MCU of a row: 2 %
  kEvery4th,  // and every 4th MCU of a row: 4 %
};

inline constexpr Choices<SeekEntries, 4> kSeekEntries = {
    {{"none", SeekEntries::kNone},
     {"rows", SeekEntries::kRows},
     {"8", SeekEntries::kEvery8th},
     {"4", SeekEntries::kEvery4th}}};

// The argument of MakeSeekIndex(): MCUs from entry to entry, 0 for rows.
// Requires: not kNone.
[[nodiscard]] int SeekRun(SeekEntries entries);

// Returns the sealed seek index of an image's bytes
// (records/store/seek_feature.h); empty if there is none: for an image that is
// not a JPEG, or a JPEG that is progressive, has restart markers or is not
// valid to its last bit. Decodes the whole scan.
[[nodiscard]] std::string MakeSealedSeekIndex(std::span<const std::byte> image,
                                              SeekEntries entries);

}  // namespace infeed
