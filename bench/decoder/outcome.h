#pragma once

#include <cstdint>
#include <string>

#include "preprocess/pixels/image.h"

namespace infeed {

// The result of a decode: pixels, or the message of its error.
struct DecodeOutcome {
  std::string error;         // empty: no error
  RgbView pixels = {};       // borrowed
  std::string warning = {};  // if warnings are tolerated
};

// Returns "" for equal outcomes, else a description of the difference: the
// first different pixel, or the messages.
[[nodiscard]] std::string DifferenceOf(const DecodeOutcome& outcome,
                                       const DecodeOutcome& expected);

// Returns a hash of the pixels, or of the message.
[[nodiscard]] std::uint64_t HashOf(const DecodeOutcome& outcome);

}  // namespace infeed
