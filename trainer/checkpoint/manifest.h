#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/tensors/safetensors.h"

// The file that makes a folder a checkpoint: written last, it says what every
// other file must be.
namespace infeed {

struct Manifest {
  struct File {
    std::string name;
    FileSum sum;
  };

  std::int64_t step = 0;
  std::vector<File> files;
};

// One line of JSON:
// {"schema":1,"step":7,"files":[{"file":"a","size":3,"crc32c":"364b3fb7"}]}
[[nodiscard]] std::string BuildManifest(const Manifest& manifest);

// Throws DataError unless text is, byte for byte, what BuildManifest() gives:
// nothing else checks the manifest itself.
[[nodiscard]] Manifest ParseManifest(std::string_view text);

}  // namespace infeed
