#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/convert/report.h"
#include "tools/images/tree.h"

// Unexpected results of a successful conversion: images that were changed,
// stored without the turn of their EXIF data, or left out.
namespace infeed {

struct Notice {
  std::string what;  // "PNG images that became lossy JPEGs"
  std::int64_t count = 0;
  std::string example;  // path of the first one
  std::string hint;     // the flag or other advice that helps
};

// Notices of files and folders that were left out, in the order of the list.
[[nodiscard]] std::vector<Notice> NoticesOf(const std::vector<LeftOut>& list);

// All notices of a conversion. Images of an unreadable format are counted
// whether their name or their content showed the format.
[[nodiscard]] std::vector<Notice> NoticesOf(const ConversionReport& report);

// A line for each notice: "WHAT: COUNT, such as EXAMPLE; HINT".
[[nodiscard]] std::string NoticesText(const std::vector<Notice>& notices);

}  // namespace infeed
