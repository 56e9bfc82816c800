#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace infeed {

// The word as a shell reads it: in quotes unless it needs none. Control
// characters become "?".
[[nodiscard]] inline std::string ShellWord(std::string word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
      "_-+=./:,@%^";
  std::ranges::replace_if(
      word, [](unsigned char c) { return c < 0x20 || c == 0x7F; }, '?');
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
    return word;
  }
  std::string quoted = "'";
  for (const char c : word) {
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return quoted + "'";
}

}  // namespace infeed
