#pragma once

#include <string>

#include "trainer/host_tensor.h"

namespace infeed {

// The safetensors format: 8 bytes of header length, a JSON header, raw data.
// Writes the file whole.
void WriteSafetensors(const std::string& path, const TensorMap& tensors);

// Throws DataError, naming the file, for a header that is not valid, too long
// (over 100 MB) or whose offsets do not cover the data exactly.
[[nodiscard]] TensorMap ReadSafetensors(const std::string& path);

}  // namespace infeed
