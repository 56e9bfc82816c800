#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>

#include "base/choices.h"
#include "preprocess/pixels/image_size.h"

// One option's name, type, range and help. They are written only in tables of
// such rows (input_table.h); flags, configuration files, --help and
// documentation are made from the tables.
namespace infeed {

// A field whose values have names.
struct ChoiceRef {
  void* field;
  std::string_view (*name)(const void* field);
  // Returns false, and leaves the field, if no value has that name.
  bool (*set)(void* field, std::string_view name);
};

// An option's field in an options object; also defines the option's type.
using OptionRef =
    std::variant<int*, std::int64_t*, std::uint64_t*, float*, double*, bool*,
                 std::string*, ImageSize*, ChoiceRef>;

// min <= value <= max, of a number or of an image's sides.
struct OptionRange {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool min_is_open = false;  // min < value
  bool max_is_open = false;  // value < max
};

constexpr OptionRange Any() { return {}; }
constexpr OptionRange Between(double min, double max) {
  return {.min = min, .max = max};
}
constexpr OptionRange BelowOne() {
  return {.min = 0, .max = 1, .max_is_open = true};
}
constexpr OptionRange Positive() { return {.min = 0, .min_is_open = true}; }
constexpr OptionRange NotNegative() { return {.min = 0}; }

struct OptionInfo {
  std::string_view name;
  std::string_view choices;  // "a|b|c"; empty: no text or number is excluded
  OptionRange range;
  std::string_view unit;  // "bytes" also reads 4GiB and the like
  std::string_view help;
  // The rule that applies when the option is not given (its value is 0 or "").
  // Empty: none, the default is a value like any other.
  std::string_view when_not_given;
  bool is_common = false;  // --help has it, not only --help_all
};

// How to find an option's field in an options object.
template <typename Options>
struct OptionField {
  OptionRef (*at)(Options& options);
  std::string_view choices = {};
};

namespace internal {

template <typename Class, typename Member>
Class ClassOf(Member Class::*member);
template <auto kMember>
using ClassOfMember = decltype(ClassOf(kMember));

template <auto... kPath, typename Options>
auto& MemberAt(Options& options) {
  return (options.*....*kPath);
}

// The names of choices as "a|b|c".
template <const auto& kChoices>
inline constexpr auto kJoinedNames = [] {
  constexpr std::size_t kLength = [] {
    std::size_t length = kChoices.size() - 1;
    for (const auto& choice : kChoices) {
      length += choice.first.size();
    }
    return length;
  }();
  std::array<char, kLength> text = {};
  auto end = text.begin();
  for (const auto& choice : kChoices) {
    if (end != text.begin()) {
      *end++ = '|';
    }
    end = std::copy(choice.first.begin(), choice.first.end(), end);
  }
  return text;
}();

template <const auto& kChoices, typename Value>
ChoiceRef RefToChoice(Value& value) {
  return {.field = &value,
          .name =
              [](const void* field) {
                return ChoiceName(*static_cast<const Value*>(field), kChoices);
              },
          .set =
              [](void* field, std::string_view name) {
                const Value* const found = FindChoice(name, kChoices);
                if (found != nullptr) {
                  *static_cast<Value*>(field) = *found;
                }
                return found != nullptr;
              }};
}

}  // namespace internal

// Field<&TrainParams::input, &InputOptions::seed>(): the field that these
// members lead to, of a number, a truth value, text or an image's size.
// choices: the only texts it may have, "a|b|c"; empty: any.
template <auto kFirst, auto... kRest>
constexpr auto Field(std::string_view choices = {}) {
  using Options = internal::ClassOfMember<kFirst>;
  return OptionField<Options>{
      .at = [](Options& options) -> OptionRef {
        return &internal::MemberAt<kFirst, kRest...>(options);
      },
      .choices = choices};
}

// As Field(), for a field with one of the choices' values.
template <const auto& kChoices, auto kFirst, auto... kRest>
constexpr auto ChoiceField() {
  using Options = internal::ClassOfMember<kFirst>;
  constexpr const auto& kNames = internal::kJoinedNames<kChoices>;
  return OptionField<Options>{
      .at = [](Options& options) -> OptionRef {
        return internal::RefToChoice<kChoices>(
            internal::MemberAt<kFirst, kRest...>(options));
      },
      .choices = std::string_view(kNames.data(), kNames.size())};
}

}  // namespace infeed
