#pragma once

#include <array>
#include <string_view>

namespace infeed {

// Whether a help text is a sentence of its own: it begins with a capital
// letter, but not with a word that continues the flag's name, and ends with a
// period.
inline bool IsSentence(std::string_view text) {
  constexpr std::array<std::string_view, 16> kHanging = {
      "Ahead", "As",  "Between", "By",   "For",  "From",  "How",  "In",
      "Of",    "One", "That",    "What", "When", "Which", "With", "Whether"};
  const std::string_view first = text.substr(0, text.find(' '));
  for (const std::string_view word : kHanging) {
    if (first == word) {
      return false;
    }
  }
  return text.size() > 2 && text[0] >= 'A' && text[0] <= 'Z' &&
         text.ends_with('.');
}

}  // namespace infeed
