#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "trainer/formats/host_tensor.h"

// Weights as torch.save() writes them: a zip archive of a pickle, data.pkl, and
// one member for each storage, data/KEY. No code in it is ever run.
namespace infeed {

// The tensors of a file: of a state_dict(), or of a dictionary that holds one
// under 'state_dict' or 'model'. Wrappers' prefixes are removed from names
// (wrapper_names.h); values that are not tensors are skipped. Throws DataError
// when a part is missing, damaged or not plain weights, and when tensors share
// so much memory that unshared they would need over four times the file's size.
[[nodiscard]] TensorMap ParsePth(std::span<const std::byte> file);

// Reads a file of at most max_bytes. Throws DataError, naming the file, as
// above; IoError when it cannot be read.
[[nodiscard]] TensorMap ReadPth(const std::string& path,
                                std::int64_t max_bytes = std::int64_t{16}
                                                         << 30);

}  // namespace infeed
