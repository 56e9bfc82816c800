#pragma once

#include <string>
#include <string_view>

#include "trainer/checkpoint/checkpoint.h"

// state.json of a checkpoint: everything except the tensors.
namespace infeed {

// One JSON object with "schema", "step", "stream" and "identity".
[[nodiscard]] std::string BuildRunState(const Checkpoint& checkpoint);

// Returns the checkpoint without its tensors. Throws DataError for a field
// that is missing or of another type.
[[nodiscard]] Checkpoint ParseRunState(std::string_view text);

}  // namespace infeed
