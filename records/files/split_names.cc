#include "records/files/split_names.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/error.h"
#include "records/bytes/plain_text.h"

namespace infeed {
namespace {

// The words for a split, with the split.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kWords =
    {{{"train", "train"},
      {"training", "train"},
      {"val", "validation"},
      {"valid", "validation"},
      {"validation", "validation"},
      {"dev", "validation"},
      {"eval", "validation"},
      {"test", "test"},
      {"testing", "test"}}};

bool IsLetter(char character) {
  return std::isalpha(static_cast<unsigned char>(character)) != 0;
}

}  // namespace

std::string_view SplitNamed(std::string_view word) {
  const std::string lower = LowerCase(word);
  const auto* const found = std::ranges::find_if(
      kWords, [&](const auto& known) { return known.first == lower; });
  return found == kWords.end() ? "" : found->second;
}

std::string_view SplitInName(std::string_view base_name) {
  for (std::size_t at = 0; at < base_name.size();) {
    std::size_t end = at;
    while (end < base_name.size() &&
           IsLetter(base_name[end]) == IsLetter(base_name[at])) {
      ++end;
    }
    const std::string_view split = SplitNamed(base_name.substr(at, end - at));
    if (!split.empty()) {
      return split;
    }
    at = end;
  }
  return "";
}

std::string_view RequireSplitName(std::string_view word) {
  const std::string_view split = SplitNamed(word);
  if (split.empty()) {
    throw UsageError("split=" + std::string(word) +
                     ": no such split; there are train, validation (or val) "
                     "and test");
  }
  return split;
}

void RefuseTwoNamesOf(std::string_view split, const std::string& data,
                      const std::string& first, const std::string& second) {
  throw UsageError(data + ": has both " + first + " and " + second +
                   ", two names for " + std::string(split) +
                   ": remove or rename one");
}

}  // namespace infeed
