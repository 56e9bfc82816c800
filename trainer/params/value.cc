#include "trainer/params/value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <concepts>
#include <system_error>
#include <type_traits>

#include <fmt/format.h>

#include "base/error.h"
#include "pipeline/reading/memory_limit.h"
#include "records/bytes/whole_number.h"
#include "trainer/params/help.h"

namespace infeed {
namespace {

// Removes a sign from the front; true for a minus.
bool TakeSign(std::string_view& text) {
  const bool minus = text.starts_with('-');
  if (minus || text.starts_with('+')) {
    text.remove_prefix(1);
  }
  return minus;
}

// "1_000" as "1000". A leading underscore stays: it is not part of a number.
std::string WithoutUnderscores(std::string_view text) {
  std::string digits(text);
  if (!text.starts_with('_')) {
    std::erase(digits, '_');
  }
  return digits;
}

// The number, if the text has only decimal digits, a point and an exponent.
std::optional<double> ReadReal(std::string_view text) {
  const std::string digits = WithoutUnderscores(text);
  const bool plain =
      !digits.empty() && !HasLeadingZero(digits) &&
      digits.find_first_not_of("0123456789.eE+-") == std::string::npos;
  if (!plain || digits[0] == '-') {
    return std::nullopt;
  }
  double value = 0;
  const char* const last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, value);
  if (error != std::errc() || end != last || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

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
  // In range, except for the rounding of the limits as doubles.
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

// Whether two texts mean the same null, truth value, number or text.
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

std::optional<ScalarInteger> ParseInteger(std::string_view text) {
  ScalarInteger value;
  value.negative = TakeSign(text);
  const bool hexadecimal = text.starts_with("0x");
  const std::string digits =
      WithoutUnderscores(text.substr(hexadecimal ? 2 : 0));
  const char* const last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(
      digits.data(), last, value.magnitude, hexadecimal ? 16 : 10);
  value.is_too_large = error == std::errc::result_out_of_range;
  const bool is_number = error == std::errc() || value.is_too_large;
  const bool is_plain = hexadecimal || !HasLeadingZero(digits);
  return is_number && end == last && is_plain ? std::optional(value)
                                              : std::nullopt;
}

std::optional<double> ParseNumber(std::string_view text) {
  if (const std::optional<ScalarInteger> integer = ParseInteger(text);
      integer && !integer->is_too_large) {
    const auto value = static_cast<double>(integer->magnitude);
    return integer->negative ? -value : value;
  }
  const bool negative = TakeSign(text);
  const std::optional<double> value = ReadReal(text);
  return value && negative ? std::optional(-*value) : value;
}

std::optional<bool> ParseTruth(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  for (const std::string_view yes : {"true", "yes", "on", "1"}) {
    if (lower == yes) {
      return true;
    }
  }
  for (const std::string_view no : {"false", "no", "off", "0"}) {
    if (lower == no) {
      return false;
    }
  }
  return std::nullopt;
}

bool IsNull(std::string_view text) {
  return text == "null" || text == "Null" || text == "NULL" || text == "~" ||
         text == "None";
}

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
