#include "pipeline/options/option_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <concepts>
#include <system_error>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/error.h"
#include "pipeline/memory/memory_limit.h"
#include "pipeline/options/overloaded.h"
#include "preprocess/pixels/image_size.h"
#include "records/bytes/json.h"
#include "records/bytes/whole_number.h"

namespace infeed {
namespace {

// "4GiB", "512MiB", or a number where neither is exact.
std::string BytesText(std::int64_t bytes) {
  for (const auto& [shift, suffix] :
       {std::pair(40, "TiB"), std::pair(30, "GiB"), std::pair(20, "MiB")}) {
    if (bytes % (std::int64_t{1} << shift) == 0) {
      return fmt::format("{}{}", bytes >> shift, suffix);
    }
  }
  return std::to_string(bytes);
}

// Whole numbers in full; some large ones as powers: "10^9".
std::string LimitText(const OptionInfo& option, double limit) {
  if (option.unit == "bytes") {
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
  return limit == std::floor(limit) ? fmt::format("{:.0f}", limit)
                                    : fmt::format("{}", limit);
}

// "at least 1" or "more than 0", and "at most 8" or "less than 1". Requires:
// the range has that limit.
std::string MinText(const OptionInfo& option) {
  return (option.range.min_is_open ? "more than " : "at least ") +
         LimitText(option, option.range.min);
}

std::string MaxText(const OptionInfo& option) {
  return (option.range.max_is_open ? "less than " : "at most ") +
         LimitText(option, option.range.max);
}

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

[[noreturn]] void ThrowType(const OptionAssignment& given,
                            std::string_view what) {
  throw UsageError(fmt::format("{}='{}': must be {}{}", given.name, given.value,
                               what, given.place));
}

[[noreturn]] void ThrowNumber(const OptionAssignment& given,
                              std::string_view what) {
  ThrowType(given, HasLeadingZero(given.value)
                       ? fmt::format("{} without a leading zero", what)
                       : what);
}

[[noreturn]] void ThrowRange(const OptionAssignment& given,
                             std::string_view range) {
  throw UsageError(fmt::format("{}={}: must be {}{}", given.name, given.value,
                               range, given.place));
}

void CheckRange(const OptionInfo& option, const OptionAssignment& given,
                double value) {
  const OptionRange& range = option.range;
  if (!(value >= range.min) || (range.min_is_open && value == range.min)) {
    ThrowRange(given, MinText(option));
  }
  if (value > range.max || (range.max_is_open && value == range.max)) {
    ThrowRange(given, MaxText(option));
  }
}

// Requires: the range lies within the type.
template <std::integral Integer>
Integer Fit(const OptionInfo& option, const OptionAssignment& given,
            const ScalarInteger& integer) {
  const double size =
      integer.is_too_large ? HUGE_VAL : static_cast<double>(integer.magnitude);
  CheckRange(option, given, integer.negative ? -size : size);
  // In range, except for the rounding of the limits as doubles.
  const auto magnitude = static_cast<Integer>(integer.magnitude);
  return static_cast<Integer>(integer.negative ? Integer{0} - magnitude
                                               : magnitude);
}

// A size such as 4GiB, or a share of the machine's memory.
ScalarInteger BytesOption(const OptionAssignment& given) {
  try {
    return {.magnitude =
                static_cast<std::uint64_t>(ParseMemoryLimit(given.value))};
  } catch (const UsageError&) {
    ThrowType(given, "a size such as 512MB or 4GiB, or a share such as 50%");
  }
}

template <std::integral Integer>
Integer IntegerOption(const OptionInfo& option, const OptionAssignment& given) {
  const std::optional<ScalarInteger> integer =
      option.unit == "bytes" ? BytesOption(given) : ParseInteger(given.value);
  if (!integer) {
    ThrowNumber(given, "an integer");
  }
  return Fit<Integer>(option, given, *integer);
}

double NumberOption(const OptionInfo& option, const OptionAssignment& given) {
  const std::optional<double> value = ParseNumber(given.value);
  if (!value) {
    ThrowNumber(given, "a number");
  }
  CheckRange(option, given, *value);
  return *value;
}

void CheckSides(const OptionInfo& option, const OptionAssignment& given,
                const ImageSize& size) {
  CheckRange(option, given, size.shorter());
  CheckRange(option, given, size.longer());
}

// An integer, as of any option, or height x width.
ImageSize SizeOption(const OptionInfo& option, const OptionAssignment& given) {
  if (ParseInteger(given.value)) {
    return IntegerOption<int>(option, given);
  }
  const std::optional<ImageSize> size = ParseImageSize(given.value);
  if (!size) {
    ThrowNumber(given, "an integer, or a height and a width such as 224x320");
  }
  CheckSides(option, given, *size);
  return *size;
}

// The name of the choice that the text stands for.
std::string_view NameOfChoice(const OptionInfo& option, std::string_view text) {
  const std::optional<bool> truth = ParseTruth(text);
  const std::string_view name = truth.value_or(false) ? "true" : "false";
  return truth && IsChoice(option.choices, name) ? name : text;
}

bool TruthOption(const OptionAssignment& given) {
  const std::optional<bool> value = ParseTruth(given.value);
  if (!value) {
    ThrowType(given, "true or false");
  }
  return *value;
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

std::string RangeText(const OptionInfo& option) {
  if (!option.choices.empty()) {
    return ChoicesText(option.choices);
  }
  std::string text = std::isfinite(option.range.min) ? MinText(option) : "";
  if (std::isfinite(option.range.max)) {
    text += (text.empty() ? "" : ", ") + MaxText(option);
  }
  return text;
}

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

void SetOption(const OptionInfo& option, const OptionAssignment& given,
               const OptionRef& field) {
  const std::string_view choice_name = NameOfChoice(option, given.value);
  if (!option.choices.empty() && !IsChoice(option.choices, choice_name)) {
    ThrowType(given, RangeText(option));
  }
  std::visit(
      Overloaded{[&](std::string* text) { *text = given.value; },
                 [&](bool* truth) { *truth = TruthOption(given); },
                 [&](double* number) { *number = NumberOption(option, given); },
                 [&](float* number) {
                   *number = static_cast<float>(NumberOption(option, given));
                 },
                 [&](ImageSize* size) { *size = SizeOption(option, given); },
                 [&](const ChoiceRef& choice) {
                   Check(choice.set(choice.field, choice_name),
                         "the choice is known");
                 },
                 [&]<std::integral Integer>(Integer* integer) {
                   *integer = IntegerOption<Integer>(option, given);
                 }},
      field);
}

void CopyOption(const OptionRef& from, const OptionRef& to) {
  std::visit(
      Overloaded{[&](const ChoiceRef& choice) {
                   const auto& other = std::get<ChoiceRef>(to);
                   Check(other.set(other.field, choice.name(choice.field)),
                         "both fields are of one option");
                 },
                 [&](auto* value) { *std::get<decltype(value)>(to) = *value; }},
      from);
}

void CheckOption(const OptionInfo& option, const OptionRef& field) {
  const auto given = [&](std::string value) {
    return OptionAssignment{.name = std::string(option.name),
                            .value = std::move(value),
                            .place = ""};
  };
  std::visit(Overloaded{[](const ChoiceRef&) {}, [](const std::string*) {},
                        [](const bool*) {},
                        [&](const ImageSize* size) {
                          CheckSides(option, given(SizeText(*size)), *size);
                        },
                        [&](const auto* value) {
                          CheckRange(option, given(fmt::format("{}", *value)),
                                     static_cast<double>(*value));
                        }},
             field);
}

std::string_view TypeText(const OptionRef& field) {
  return std::visit(
      Overloaded{[](const bool*) { return "true or false"; },
                 [](const std::string*) { return "text"; },
                 [](const ChoiceRef&) { return "text"; },
                 [](const ImageSize*) { return "size"; },
                 [](const std::floating_point auto*) { return "number"; },
                 [](const std::integral auto*) { return "integer"; }},
      field);
}

std::string ValueText(const OptionInfo& option, const OptionRef& field) {
  return std::visit(
      Overloaded{[](const ChoiceRef& choice) {
                   return std::string(choice.name(choice.field));
                 },
                 [&](const std::int64_t* value) {
                   return option.unit == "bytes" ? BytesText(*value)
                                                 : fmt::format("{}", *value);
                 },
                 [](const ImageSize* size) { return SizeText(*size); },
                 [](const auto* value) { return fmt::format("{}", *value); }},
      field);
}

std::string JsonText(const OptionRef& field) {
  using Json = nlohmann::ordered_json;
  const Json value = std::visit(
      Overloaded{[](const ChoiceRef& choice) {
                   const std::string_view name = choice.name(choice.field);
                   const auto number = ParsePlainNumber<std::uint32_t>(name);
                   return number ? Json(*number) : Json(name);
                 },
                 [](const auto* plain) { return Json(*plain); }},
      field);
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string ShownJson(const std::string& json) {
  const std::optional<double> number = ParseNumber(json);
  const auto narrow = static_cast<float>(number.value_or(0));
  return number == narrow && json.find('.') != std::string::npos
             ? fmt::format("{}", narrow)
             : json;
}

bool IsGiven(const OptionInfo& option, const OptionRef& field) {
  const std::string text = ValueText(option, field);
  return option.when_not_given.empty() || (text != "0" && !text.empty());
}

std::string DefaultText(const OptionInfo& option, const OptionRef& standard) {
  return IsGiven(option, standard) ? ValueText(option, standard)
                                   : std::string(option.when_not_given);
}

}  // namespace infeed
