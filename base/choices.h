#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace infeed {

// The values of an option, each with its name for parsing and printing.
template <typename Value, std::size_t kCount>
using Choices = std::array<std::pair<std::string_view, Value>, kCount>;

// The value with that name; null if there is none.
template <typename Value, std::size_t kCount>
[[nodiscard]] constexpr const Value* FindChoice(
    std::string_view name, const Choices<Value, kCount>& choices) {
  for (const auto& [known, value] : choices) {
    if (known == name) {
      return &value;
    }
  }
  return nullptr;
}

// "a, b or c".
template <typename Value, std::size_t kCount>
[[nodiscard]] std::string ListChoices(const Choices<Value, kCount>& choices) {
  std::string names;
  for (std::size_t i = 0; i < kCount; ++i) {
    names += i == 0 ? "" : i + 1 == kCount ? " or " : ", ";
    names += choices[i].first;
  }
  return names;
}

// Returns the value with that name. Throws UsageError that lists all names.
template <typename Value, std::size_t kCount>
[[nodiscard]] Value ParseChoice(std::string_view option, std::string_view name,
                                const Choices<Value, kCount>& choices) {
  if (const Value* const value = FindChoice(name, choices)) {
    return *value;
  }
  throw UsageError(std::string(option) + " is \"" + std::string(name) +
                   "\": give " + ListChoices(choices));
}

// "a|b|c": the names of the items of a list.
template <typename List, typename Item>
[[nodiscard]] std::string JoinNames(const List& list,
                                    std::string_view Item::*name) {
  std::string names;
  for (const Item& item : list) {
    names.append(names.empty() ? "" : "|").append(item.*name);
  }
  return names;
}

// Requires: value is one of the choices.
template <typename Value, std::size_t kCount>
[[nodiscard]] std::string_view ChoiceName(
    Value value, const Choices<Value, kCount>& choices) {
  for (const auto& [name, choice] : choices) {
    if (choice == value) {
      return name;
    }
  }
  Check(false, "every value has a name");
  return {};
}

}  // namespace infeed
