#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trainer/params/params.h"
#include "trainer/params/table.h"

// Reads a parameter's value from text. Values have YAML's forms, except numbers
// of base 2, 8 and 60, which are rejected: users never mean them.
namespace infeed {

// One parameter as the user wrote it.
struct ParamAssignment {
  std::string name;
  std::string value;
  std::string place;  // for messages: " (run.yaml, line 3)", or ""
};

// Reads the text as the parameter's type and stores it. Throws UsageError:
// "train_steps='abc': must be an integer", "keep_last=0: must be at least 1".
void SetParam(const Param& param, const ParamAssignment& assignment,
              TrainParams& params);

// The message to print about a value that has no effect; nullopt for the
// reference's default. Throws UsageError for a value that the reference rejects
// too, or for which it would behave differently.
[[nodiscard]] std::optional<std::string> NoteOnUnsupported(
    const UnsupportedParam& param, const ParamAssignment& assignment);

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
