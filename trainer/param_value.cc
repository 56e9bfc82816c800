#include "trainer/param_value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <concepts>
#include <optional>
#include <type_traits>

#include <fmt/format.h>

#include "base/error.h"
#include "pipeline/memory_limit.h"
#include "trainer/param_help.h"

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

std::string_view WithoutPlus(std::string_view text) {
  const bool plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
  return plus ? text.substr(1) : text;
}

// What from_chars reads, all of it. An integer that does not fit the type is
// out of every range: it is read as the real that it is nearest to.
template <typename Number>
std::optional<Number> ParseNumber(std::string_view text) {
  text = WithoutPlus(text);
  Number value{};
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || end != last) {
    return std::nullopt;
  }
  return value;
}

std::optional<double> ParseReal(std::string_view text) {
  const std::optional<double> value = ParseNumber<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

bool IsInteger(std::string_view text) {
  text = WithoutPlus(text);
  text.remove_prefix(text.starts_with('-') ? 1 : 0);
  return !text.empty() &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
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

template <std::integral Integer>
Integer ParseInteger(const Param& param, const ParamAssignment& given) {
  std::string_view text = given.value;
  std::string share;  // of the memory there is, in bytes
  if (param.unit == "bytes" && text.ends_with('%')) {
    share = std::to_string(ParseMemoryLimit(text));
    text = share;
  }
  const std::int64_t factor = param.unit == "bytes" ? TakeByteSuffix(text) : 1;
  if (!IsInteger(text)) {
    ThrowType(given, "an integer");
  }
  // The range of every parameter lies within its type, so that a value beyond
  // the type is beyond the range as well.
  const std::optional<double> real = ParseNumber<double>(text);
  const double sign = text.starts_with('-') ? -1 : 1;
  CheckRange(param, given,
             real.value_or(sign * HUGE_VAL) * static_cast<double>(factor));
  const std::optional<Integer> value = ParseNumber<Integer>(text);
  if (!value) {
    ThrowRange(given, MaxText(param));
  }
  return *value * static_cast<Integer>(factor);
}

double ParseNumberParam(const Param& param, const ParamAssignment& given) {
  const std::optional<double> value = ParseReal(given.value);
  if (!value) {
    ThrowType(given, "a number");
  }
  CheckRange(param, given, *value);
  return *value;
}

std::optional<bool> ParseBool(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (IsChoice("true|yes|on|1", lower)) {
    return true;
  }
  return IsChoice("false|no|off|0", lower) ? std::optional(false)
                                           : std::nullopt;
}

bool ParseBoolParam(const ParamAssignment& given) {
  const std::optional<bool> value = ParseBool(given.value);
  if (!value) {
    ThrowType(given, "true or false");
  }
  return *value;
}

bool IsNull(std::string_view text) {
  return IsChoice("null|Null|NULL|~|None", text);
}

// Whether two texts are the same null, truth value, number or text.
bool SameValue(std::string_view a, std::string_view b) {
  const std::optional<double> number = ParseReal(b);
  if (number) {
    return ParseReal(a) == number;
  }
  if (ParseBool(b)) {
    return ParseBool(a) == ParseBool(b);
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
          value = ParseBoolParam(given);
        } else if constexpr (std::is_same_v<Value, double>) {
          value = ParseNumberParam(param, given);
        } else {
          value = ParseInteger<Value>(param, given);
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
