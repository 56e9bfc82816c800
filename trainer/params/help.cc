#include "trainer/params/help.h"

#include <cmath>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

namespace infeed {
namespace {

// Whole numbers in full; some large ones as powers: "10^9".
std::string LimitText(const Param& param, double limit) {
  if (param.unit == "bytes") {
    return BytesText(static_cast<std::int64_t>(limit));
  }
  for (const auto& [value, text] : {std::pair(1e9, "10^9"),
                                    {1e12, "10^12"},
                                    {0x1p32 - 1, "2^32 - 1"},
                                    {0x1p64, "2^64 - 1"}}) {
    if (limit == value) {
      return text;
    }
  }
  return fmt::format("{:.0f}", limit);
}

}  // namespace

std::string ChoicesText(std::string_view choices) {
  std::string text(choices);
  const std::size_t last = text.rfind('|');
  if (last != std::string::npos) {
    text.replace(last, 1, " or ");
  }
  for (std::size_t bar = text.find('|'); bar != std::string::npos;
       bar = text.find('|')) {
    text.replace(bar, 1, ", ");
  }
  return text;
}

std::string MinText(const Param& param) {
  return (param.range.min_is_open ? "more than " : "at least ") +
         LimitText(param, param.range.min);
}

std::string MaxText(const Param& param) {
  return (param.range.max_is_open ? "less than " : "at most ") +
         LimitText(param, param.range.max);
}

std::string RangeText(const Param& param) {
  if (!param.range.choices.empty()) {
    return ChoicesText(param.range.choices);
  }
  std::string text = std::isfinite(param.range.min) ? MinText(param) : "";
  if (std::isfinite(param.range.max)) {
    text += (text.empty() ? "" : ", ") + MaxText(param);
  }
  return text;
}

std::string DefaultText(const Param& param) {
  const TrainParams defaults;
  return IsGiven(param, defaults) ? ValueText(param, defaults)
                                  : std::string(param.when_not_given);
}

}  // namespace infeed
