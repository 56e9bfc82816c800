#include "trainer/results/class_match.h"

#include <algorithm>
#include <cstddef>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace infeed {
namespace {

using Names = std::vector<std::string>;

// The number of each name; empty where a name occurs twice.
std::map<std::string, std::int32_t> Numbers(const Names& names) {
  std::map<std::string, std::int32_t> numbers;
  for (std::size_t i = 0; i < names.size(); ++i) {
    numbers.emplace(names[i], static_cast<std::int32_t>(i));
  }
  return numbers.size() == names.size() ? numbers
                                        : std::map<std::string, std::int32_t>();
}

}  // namespace

ClassMatch MatchClasses(const Names& data, const Names& model) {
  if (data.empty() || model.empty() ||
      (data.size() <= model.size() &&
       std::equal(data.begin(), data.end(), model.begin()))) {
    return {};
  }
  const std::map<std::string, std::int32_t> numbers = Numbers(model);
  ClassMatch match;
  for (const auto& entry : Numbers(data)) {
    match.to_model.resize(data.size());
    const auto found = numbers.find(entry.first);
    if (found == numbers.end()) {
      return {.fits = false};
    }
    match.to_model[static_cast<std::size_t>(entry.second)] = found->second;
  }
  match.fits = !match.to_model.empty();
  return match;
}

std::string CountedList(const Names& names, std::size_t most) {
  const auto shown =
      names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), most));
  return fmt::format("{} ({}{})", names.size(),
                     fmt::join(names.begin(), shown, ", "),
                     names.size() > most ? ", ..." : "");
}

}  // namespace infeed
