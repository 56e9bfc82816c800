#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trainer/params/params.h"
#include "trainer/params/table.h"

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

// What to tell the user of a value that has no effect; nullopt for the
// reference's default. Throws UsageError for what the reference refuses too, or
// would do differently.
[[nodiscard]] std::optional<std::string> NoteOnUnsupported(
    const UnsupportedParam& param, const ParamAssignment& assignment);

}  // namespace infeed
