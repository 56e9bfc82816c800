#pragma once

#include <cstdint>
#include <string>

#include "preprocess/pixels/image.h"

namespace infeed {

// What a decode came to: pixels, or the message of its error.
struct DecodeOutcome {
  std::string error;         // empty: there are pixels
  RgbView pixels = {};       // borrowed
  std::string warning = {};  // where warnings are tolerated
};

// Returns "" for equal outcomes, else how the first differs from what was
// expected: by the first pixel or its words.
[[nodiscard]] std::string DifferenceOf(const DecodeOutcome& outcome,
                                       const DecodeOutcome& expected);

// Returns a hash of the pixels, or of the message.
[[nodiscard]] std::uint64_t HashOf(const DecodeOutcome& outcome);

}  // namespace infeed
