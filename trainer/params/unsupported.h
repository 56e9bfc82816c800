#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "pipeline/options/option_text.h"

namespace infeed {

// A parameter of the reference that has no meaning here. It is read, and if its
// value is not the reference's default, a line is printed with the reason why
// it has no effect.
struct UnsupportedParam {
  std::string_view name;
  std::string_view default_text;
  std::string_view values;  // "a|b|c"; empty: a whole number from 1 on
  std::string_view why;
};
inline constexpr std::string_view kTruth = "true|false";

[[nodiscard]] std::span<const UnsupportedParam> UnsupportedParams();
// The unsupported parameter with this name; nullptr when there is none.
[[nodiscard]] const UnsupportedParam* FindUnsupportedParam(
    std::string_view name);

// The message to print about a value that has no effect; nullopt for the
// reference's default. Throws UsageError for a value that the reference rejects
// too, or for which it would behave differently.
[[nodiscard]] std::optional<std::string> NoteOnUnsupported(
    const UnsupportedParam& param, const OptionAssignment& given);

}  // namespace infeed
