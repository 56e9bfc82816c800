#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string_view>
#include <system_error>

// Whole numbers in text.
namespace infeed {

// Removes a number from the front of text as programs write it, in names,
// messages and variables: digits, with or without leading zeros, and a minus
// where Number has a sign. nullopt, and text unchanged, if there is none or it
// does not fit.
template <std::integral Number>
[[nodiscard]] std::optional<Number> TakePlainNumber(std::string_view& text,
                                                    int base = 10) {
  Number number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc()) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

// Parses all of text as such a number; nullopt if it is not one.
template <std::integral Number>
[[nodiscard]] std::optional<Number> ParsePlainNumber(std::string_view text,
                                                     int base = 10) {
  const std::optional<Number> number = TakePlainNumber<Number>(text, base);
  return text.empty() ? number : std::nullopt;
}

// The functions below parse numbers as users write them, in flags, parameters
// and files: decimal, or hexadecimal after 0x.

// Whether a digit follows a leading zero, as in "010". C and YAML 1.1 read that
// as octal, people as ten, so such numbers are rejected everywhere.
[[nodiscard]] constexpr bool HasLeadingZero(std::string_view number) {
  if (number.starts_with('-') || number.starts_with('+')) {
    number.remove_prefix(1);
  }
  return number.size() > 1 && number[0] == '0' && number[1] >= '0' &&
         number[1] <= '9';
}

// Removes a whole number from the front of text. nullopt, and text unchanged,
// if there is none, it has a leading zero, or it does not fit.
template <std::integral Number>
[[nodiscard]] std::optional<Number> TakeWholeNumber(std::string_view& text) {
  const bool hexadecimal = text.starts_with("0x");
  std::string_view digits = text.substr(hexadecimal ? 2 : 0);
  const std::optional<Number> number =
      TakePlainNumber<Number>(digits, hexadecimal ? 16 : 10);
  if (!number || HasLeadingZero(text)) {
    return std::nullopt;
  }
  text = digits;
  return number;
}

// Parses all of text as a whole number; nullopt if it is not one.
template <std::integral Number>
[[nodiscard]] std::optional<Number> ParseWholeNumber(std::string_view text) {
  const std::optional<Number> number = TakeWholeNumber<Number>(text);
  return text.empty() ? number : std::nullopt;
}

}  // namespace infeed
