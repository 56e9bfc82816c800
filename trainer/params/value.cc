#include "trainer/params/value.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <optional>
#include <type_traits>

#include <fmt/format.h>

#include "base/error.h"
#include "pipeline/reading/memory_limit.h"
#include "records/bytes/whole_number.h"
#include "trainer/params/help.h"
#include "trainer/params/scalar.h"

namespace infeed {
namespace {

using P = TrainParams;

[[noreturn]] void ThrowType(const ParamAssignment& given,
                            std::string_view what) {
  throw UsageError(fmt::format("{}='{}': must be {}{}", given.name, given.value,
                               what, given.place));
}

[[noreturn]] void ThrowNumber(const ParamAssignment& given,
                              std::string_view what) {
  ThrowType(given, HasLeadingZero(given.value)
                       ? fmt::format("{} without a leading zero", what)
                       : what);
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

// Requires: the range lies within the type.
template <std::integral Integer>
Integer Fit(const Param& param, const ParamAssignment& given,
            const ScalarInteger& integer) {
  const double size =
      integer.is_too_large ? HUGE_VAL : static_cast<double>(integer.magnitude);
  CheckRange(param, given, integer.negative ? -size : size);
  // In range, but for what a double rounds.
  const auto magnitude = static_cast<Integer>(integer.magnitude);
  return static_cast<Integer>(integer.negative ? Integer{0} - magnitude
                                               : magnitude);
}

// A size such as 4GiB, or a share of the machine's memory.
ScalarInteger BytesParam(const ParamAssignment& given) {
  try {
    return {.magnitude =
                static_cast<std::uint64_t>(ParseMemoryLimit(given.value))};
  } catch (const UsageError&) {
    ThrowType(given, "a size such as 512MB or 4GiB, or a share such as 50%");
  }
}

template <std::integral Integer>
Integer IntegerParam(const Param& param, const ParamAssignment& given) {
  const std::optional<ScalarInteger> integer =
      param.unit == "bytes" ? BytesParam(given) : ParseInteger(given.value);
  if (!integer) {
    ThrowNumber(given, "an integer");
  }
  return Fit<Integer>(param, given, *integer);
}

double NumberParam(const Param& param, const ParamAssignment& given) {
  const std::optional<double> value = ParseNumber(given.value);
  if (!value) {
    ThrowNumber(given, "a number");
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

// Whether a parameter without effect may have this value: see UnsupportedParam.
bool IsUnsupportedValue(std::string_view values, std::string_view text) {
  if (values == kTruth) {
    return ParseTruth(text).has_value();
  }
  const std::optional<ScalarInteger> count = ParseInteger(text);
  return values.empty() ? count && count->magnitude > 0 && !count->negative
                        : IsChoice(values, text);
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

std::optional<std::string> NoteOnUnsupported(const UnsupportedParam& param,
                                             const ParamAssignment& given) {
  if (IsNull(given.value) || SameValue(given.value, param.default_text)) {
    return std::nullopt;
  }
  if (!IsUnsupportedValue(param.values, given.value)) {
    ThrowType(given,
              param.values.empty() ? "at least 1" : ChoicesText(param.values));
  }
  return fmt::format("{}={} has no effect: {}{}", given.name, given.value,
                     param.why, given.place);
}

}  // namespace infeed
