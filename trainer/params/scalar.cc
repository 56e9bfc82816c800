#include "trainer/params/scalar.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <system_error>

#include "records/bytes/whole_number.h"

namespace infeed {
namespace {

// Takes a sign off the front; true for a minus.
bool TakeSign(std::string_view& text) {
  const bool minus = text.starts_with('-');
  if (minus || text.starts_with('+')) {
    text.remove_prefix(1);
  }
  return minus;
}

// "1_000" as "1000"; one in front is no part of a number, and stays.
std::string WithoutUnderscores(std::string_view text) {
  std::string digits(text);
  if (!text.starts_with('_')) {
    std::erase(digits, '_');
  }
  return digits;
}

// What from_chars reads of decimal digits, a point and an exponent.
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

}  // namespace infeed
