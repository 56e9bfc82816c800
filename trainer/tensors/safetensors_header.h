#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/tensors/stored_type.h"

// The JSON in front of a safetensors file; safetensors.h draws the file.
namespace infeed {

// One tensor of a header: bytes [begin, end) of the data.
struct TensorEntry {
  std::string name;
  StoredType type = StoredType::kFloat32;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// The header's text, padded with spaces so that the data begins at a multiple
// of eight bytes. Requires: names are UTF-8.
[[nodiscard]] std::string BuildSafetensorsHeader(
    const std::vector<TensorEntry>& entries);

// Parses a header; the entries come sorted by place. Throws DataError unless
// it is valid, every shape fits its bytes, and the tensors cover data_bytes
// exactly.
[[nodiscard]] std::vector<TensorEntry> ParseSafetensorsHeader(
    std::string_view text, std::uint64_t data_bytes);

}  // namespace infeed
