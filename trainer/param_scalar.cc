#include "trainer/param_scalar.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <system_error>

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

int DigitOf(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

// value * factor + digit, or is_too_large.
void Append(std::uint64_t factor, std::uint64_t digit, ScalarInteger& value) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  if (value.magnitude > (kMost - digit) / factor) {
    value.is_too_large = true;
    return;
  }
  value.magnitude = value.magnitude * factor + digit;
}

// Digits of a base, with underscores among them; at least one character.
bool ReadDigits(std::string_view digits, int base, ScalarInteger& value) {
  for (const char c : digits) {
    if (c == '_') {
      continue;
    }
    if (DigitOf(c) >= base) {
      return false;
    }
    Append(static_cast<std::uint64_t>(base),
           static_cast<std::uint64_t>(DigitOf(c)), value);
  }
  return !digits.empty();
}

// "30" of "12:30": one or two digits below 60.
bool ReadSixtieth(std::string_view part, ScalarInteger& value) {
  ScalarInteger digits;
  if (part.size() > 2 || part.find('_') != std::string_view::npos ||
      !ReadDigits(part, 10, digits) || digits.magnitude > 59) {
    return false;
  }
  Append(60, digits.magnitude, value);
  return true;
}

// "12", or "12:30:00" in base 60, whose first part has no leading zero.
bool ReadDecimal(std::string_view text, ScalarInteger& value) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const bool leads =
      text.starts_with('_') || (text.starts_with('0') && text.size() > 1);
  if (leads || !ReadDigits(text.substr(0, colon), 10, value)) {
    return false;
  }
  for (text.remove_prefix(colon); !text.empty();) {
    text.remove_prefix(1);
    const std::size_t end = std::min(text.find(':'), text.size());
    if (!ReadSixtieth(text.substr(0, end), value)) {
      return false;
    }
    text.remove_prefix(end);
  }
  return true;
}

bool ReadUnsigned(std::string_view text, ScalarInteger& value) {
  if (text.starts_with("0b")) {
    return ReadDigits(text.substr(2), 2, value);
  }
  if (text.starts_with("0x")) {
    return ReadDigits(text.substr(2), 16, value);
  }
  const bool octal = text.size() > 1 && text[0] == '0';
  return octal ? ReadDigits(text.substr(1), 8, value)
               : ReadDecimal(text, value);
}

// "12:30" of "12:30.5" in base 60, times 60 where digits follow.
bool TakeSixtieths(std::string_view& text, double& whole) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    return true;
  }
  ScalarInteger value;
  const std::string_view front = text.substr(0, colon);
  if (!ReadDecimal(front, value) || value.is_too_large) {
    return false;
  }
  whole = 60 * static_cast<double>(value.magnitude);
  text.remove_prefix(colon + 1);
  return true;
}

// What from_chars reads of decimal digits, a point and an exponent.
std::optional<double> ReadReal(std::string_view text) {
  std::string digits(text);
  std::erase(digits, '_');
  const bool plain =
      !digits.empty() &&
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
  return ReadUnsigned(text, value) ? std::optional(value) : std::nullopt;
}

std::optional<double> ParseNumber(std::string_view text) {
  if (const std::optional<ScalarInteger> integer = ParseInteger(text);
      integer && !integer->is_too_large) {
    const auto value = static_cast<double>(integer->magnitude);
    return integer->negative ? -value : value;
  }
  const bool negative = TakeSign(text);
  const bool has_sixtieths = text.find(':') != std::string_view::npos;
  double whole = 0;
  if (!TakeSixtieths(text, whole)) {
    return std::nullopt;
  }
  const std::optional<double> rest = ReadReal(text);
  if (!rest || (has_sixtieths && *rest >= 60)) {
    return std::nullopt;
  }
  return negative ? -(whole + *rest) : whole + *rest;
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
