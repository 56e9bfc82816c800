#pragma once

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/decoder/window_check.h"
#include "tests/support/each_target.h"

namespace infeed {

struct NamedJpeg {
  std::string name;
  std::string bytes;
};

// Expects that JpegDecoder does with each of them what libjpeg-turbo does: the
// same pixels, message or warning, whole and in windows, with warnings as
// errors and tolerated, on each SIMD target. Returns the tally with errors, on
// the last target.
inline WindowTally ExpectSameDecode(const std::vector<NamedJpeg>& jpegs,
                                    int windows = 12, int denominator = 1) {
  WindowTally with_errors;
  OnEachSimdTarget([&] {
    for (const JpegWarnings warnings :
         {JpegWarnings::kTolerated, JpegWarnings::kErrors}) {
      WindowChecker checker({.windows = windows,
                             .limits = {.max_pixels = 1 << 14},
                             .warnings = warnings,
                             .denominator = denominator});
      with_errors = {};
      std::vector<std::string> differences;
      for (const NamedJpeg& jpeg : jpegs) {
        checker.Check({.name = jpeg.name,
                       .number = with_errors.images,
                       .bytes = jpeg.bytes},
                      with_errors, differences);
      }
      EXPECT_THAT(differences, testing::IsEmpty());
    }
  });
  return with_errors;
}

}  // namespace infeed
