#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "pipeline/options/option.h"

// Options' values from text and as text, and texts about options for --help,
// messages and documentation. Values have YAML's forms, except numbers of base
// 2, 8 and 60, which are rejected: users never mean them.
namespace infeed {

// One option as the user wrote it.
struct OptionAssignment {
  std::string name;
  std::string value;
  std::string place;  // for messages: " (run.yaml, line 3)", or ""
};

// Reads the text as the option's type and stores it; a choice true or false
// also has the other forms of ParseTruth(). Throws UsageError:
// "train_steps='abc': must be an integer", "keep_last=0: must be at least 1".
void SetOption(const OptionInfo& option, const OptionAssignment& given,
               const OptionRef& field);

// Requires: both are fields of the same option.
void CopyOption(const OptionRef& from, const OptionRef& to);

// Throws UsageError for a number out of the option's range, as SetOption()
// does.
void CheckOption(const OptionInfo& option, const OptionRef& field);

// "integer", "number", "text", "size", "true or false".
[[nodiscard]] std::string_view TypeText(const OptionRef& field);
// A value as text that SetOption() reads back.
[[nodiscard]] std::string ValueText(const OptionInfo& option,
                                    const OptionRef& field);
// An option's value as JSON; a choice is its name, or a number where the name
// is one.
[[nodiscard]] std::string JsonText(const OptionRef& field);
// JsonText() for messages: a float, which JSON writes as the same double, in
// its shortest form.
[[nodiscard]] std::string ShownJson(const std::string& json);
// Whether the option has a value; false where 0 or "" means "not given".
[[nodiscard]] bool IsGiven(const OptionInfo& option, const OptionRef& field);
// The value of `standard`, the field of options not changed, or
// OptionInfo::when_not_given where there is such a text.
[[nodiscard]] std::string DefaultText(const OptionInfo& option,
                                      const OptionRef& standard);

// "a|b|c" as "a, b or c".
[[nodiscard]] std::string ChoicesText(std::string_view choices);
// Whether text is one of "a|b|c".
[[nodiscard]] bool IsChoice(std::string_view choices, std::string_view text);

// "a, b or c", "at least 1, at most 8"; "" when all values are valid.
[[nodiscard]] std::string RangeText(const OptionInfo& option);

struct ScalarInteger {
  bool negative = false;
  std::uint64_t magnitude = 0;
  bool is_too_large = false;  // for the magnitude
};

// Decimal or 0x10, with underscores and a sign. nullopt for anything else, and
// for a leading zero: "010".
[[nodiscard]] std::optional<ScalarInteger> ParseInteger(std::string_view text);

// An integer, or 1.5, .5, 5., 1.5e-4, 1e-4, with underscores. nullopt for
// anything else, and for a number that is not finite.
[[nodiscard]] std::optional<double> ParseNumber(std::string_view text);

// true/false, yes/no, on/off and, beyond YAML, 1/0; upper or lower case.
[[nodiscard]] std::optional<bool> ParseTruth(std::string_view text);

// null, ~ and, beyond YAML, Python's None.
[[nodiscard]] bool IsNull(std::string_view text);

}  // namespace infeed
