#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/convert/report.h"
#include "tools/images/tree.h"

// What a user may not expect of a conversion that went well: images that were
// changed, stored lying on their side, or left out.
namespace infeed {

struct Notice {
  std::string what;  // "PNG images that became lossy JPEGs"
  std::int64_t count = 0;
  std::string example;  // the first one's path
  std::string hint;     // the flag, or what else helps
};

// Files and folders that were left out, in the order of the list.
[[nodiscard]] std::vector<Notice> NoticesOf(const std::vector<LeftOut>& list);

// All of a conversion; images of a format that cannot be read are counted
// whether their name or their content showed it.
[[nodiscard]] std::vector<Notice> NoticesOf(const ConversionReport& report);

// A line for each: "WHAT: COUNT, such as EXAMPLE; HINT".
[[nodiscard]] std::string NoticesText(const std::vector<Notice>& notices);

}  // namespace infeed
