#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/formats/safetensors.h"

// The JSON files of a checkpoint.
namespace infeed {

// The file that makes a folder a checkpoint. It is written last and has the
// size and checksum of every other file.
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

// Throws DataError unless text is byte for byte what BuildManifest() returns,
// since the manifest itself has no checksum.
[[nodiscard]] Manifest ParseManifest(std::string_view text);

// state.json: everything except the tensors, as one JSON object with "schema",
// "step", "stream", "identity" and "validation".
[[nodiscard]] std::string BuildRunState(const Checkpoint& checkpoint);

// Returns the checkpoint without its tensors. Throws DataError for a field
// that is missing or of another type.
[[nodiscard]] Checkpoint ParseRunState(std::string_view text);

}  // namespace infeed
