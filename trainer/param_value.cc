#include "trainer/param_value.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <optional>
#include <type_traits>

#include <fmt/format.h>

#include "base/error.h"
#include "pipeline/memory_limit.h"
#include "trainer/param_help.h"
#include "trainer/param_scalar.h"

namespace infeed {
namespace {

using P = TrainParams;

[[noreturn]] void ThrowType(const ParamAssignment& given,
                            std::string_view what) {
  throw UsageError(fmt::format("{}='{}': must be {}{}", given.name, given.value,
                               what, given.place));
}

[[noreturn]] void ThrowRange(const ParamAssignment& given,
                             std::string_view range) {
  throw UsageError(fmt::format("{}={}: must be {}{}", given.name, given.value,
                               range, given.place));
}

void CheckRange(const Param& param, const ParamAssignment& given,
                double value) {
  const ParamRange& range = param.range;
  if (value < range.min || (range.min_is_open && value == range.min)) {
    ThrowRange(given, MinText(param));
  }
  if (value > range.max || (range.max_is_open && value == range.max)) {
    ThrowRange(given, MaxText(param));
  }
}

// Whether text is one of "a|b|c".
bool IsChoice(std::string_view choices, std::string_view text) {
  while (!choices.empty()) {
    const std::size_t bar = std::min(choices.find('|'), choices.size());
    if (choices.substr(0, bar) == text) {
      return true;
    }
    choices.remove_prefix(std::min(bar + 1, choices.size()));
  }
  return false;
}

// Takes "KiB", "MiB", "GiB" or "TiB" off a number of bytes.
std::int64_t TakeByteSuffix(std::string_view& text) {
  static constexpr std::string_view kUnits = "KMGT";
  if (text.size() < 4 || !text.ends_with("iB")) {
    return 1;
  }
  const std::size_t unit = kUnits.find(text[text.size() - 3]);
  if (unit == std::string_view::npos) {
    return 1;
  }
  text.remove_suffix(3);
  return std::int64_t{1} << (10 * (unit + 1));
}

// Requires: the range lies within the type.
template <std::integral Integer>
Integer Fit(const Param& param, const ParamAssignment& given,
            const ScalarInteger& integer, std::int64_t factor) {
  const double size =
      integer.is_too_large ? HUGE_VAL : static_cast<double>(integer.magnitude);
  CheckRange(param, given,
             (integer.negative ? -size : size) * static_cast<double>(factor));
  // In range, but for what a double rounds.
  const auto magnitude = static_cast<Integer>(integer.magnitude);
  return static_cast<Integer>(
      (integer.negative ? Integer{0} - magnitude : magnitude) *
      static_cast<Integer>(factor));
}

template <std::integral Integer>
Integer IntegerParam(const Param& param, const ParamAssignment& given) {
  std::string_view text = given.value;
  std::string share;  // of the memory there is, in bytes
  if (param.unit == "bytes" && text.ends_with('%')) {
    share = std::to_string(ParseMemoryLimit(text));
    text = share;
  }
  const std::int64_t factor = param.unit == "bytes" ? TakeByteSuffix(text) : 1;
  const std::optional<ScalarInteger> integer = ParseInteger(text);
  if (!integer) {
    ThrowType(given, "an integer");
  }
  return Fit<Integer>(param, given, *integer, factor);
}

double NumberParam(const Param& param, const ParamAssignment& given) {
  const std::optional<double> value = ParseNumber(given.value);
  if (!value) {
    ThrowType(given, "a number");
  }
  CheckRange(param, given, *value);
  return *value;
}

bool TruthParam(const ParamAssignment& given) {
  const std::optional<bool> value = ParseTruth(given.value);
  if (!value) {
    ThrowType(given, "true or false");
  }
  return *value;
}

// Whether two texts are the same null, truth value, number or text.
bool SameValue(std::string_view a, std::string_view b) {
  const std::optional<double> number = ParseNumber(b);
  if (number) {
    return ParseNumber(a) == number;
  }
  if (ParseTruth(b)) {
    return ParseTruth(a) == ParseTruth(b);
  }
  return IsNull(b) ? IsNull(a) || a.empty() : a == b;
}

}  // namespace

void SetParam(const Param& param, const ParamAssignment& given,
              TrainParams& params) {
  if (IsNull(given.value)) {
    std::visit([&](auto field) { params.*field = TrainParams().*field; },
               param.field);
    return;
  }
  const std::string_view choices = param.range.choices;
  if (!choices.empty() && !IsChoice(choices, given.value)) {
    ThrowType(given, RangeText(param));
  }
  std::visit(
      [&](auto field) {
        auto& value = params.*field;
        using Value = std::remove_reference_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, std::string>) {
          value = given.value;
        } else if constexpr (std::is_same_v<Value, bool>) {
          value = TruthParam(given);
        } else if constexpr (std::is_same_v<Value, double>) {
          value = NumberParam(param, given);
        } else {
          value = IntegerParam<Value>(param, given);
        }
      },
      param.field);
}

void CheckUnsupported(const UnsupportedParam& param,
                      const ParamAssignment& given) {
  if (!SameValue(given.value, param.default_text)) {
    throw UsageError(fmt::format(
        "{}='{}': {}; only the reference's default, '{}', is accepted{}",
        given.name, given.value, param.why, param.default_text, given.place));
  }
}

}  // namespace infeed
