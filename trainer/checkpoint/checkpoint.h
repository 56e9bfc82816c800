#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/memory/batch.h"
#include "pipeline/order/stream_state.h"
#include "trainer/tensors/host_tensor.h"

namespace infeed {

// What a run must share with the run that wrote a checkpoint to go on from it:
// by the names users know, each value as JSON has it.
using RunIdentity = std::vector<StateField>;

// Everything that a resumed run needs to do what an uninterrupted one would.
struct Checkpoint {
  std::int64_t step = 0;  // updates done
  StreamPosition stream;  // of the training input
  RunIdentity identity;
  ModelState state;
};

// A checkpoint is a folder MODEL_DIR/checkpoint-NNNNNNNN of model.safetensors,
// optim.safetensors, state.json and MANIFEST, which names each file's size and
// CRC-32C and is renamed in last; the folder is renamed in whole, synced.
// docs/checkpoints.md has the formats; save.h writes them.

// The steps of the checkpoints in a model folder, ascending, those without
// MANIFEST left out. Empty when the folder is missing.
[[nodiscard]] std::vector<std::int64_t> ListCheckpoints(
    const std::string& model_dir);

// Reads the checkpoint of one step and verifies every checksum. Throws
// DataError naming the file.
[[nodiscard]] Checkpoint LoadCheckpoint(const std::string& model_dir,
                                        std::int64_t step);

// The same of a folder, whatever its name.
[[nodiscard]] Checkpoint LoadCheckpointFolder(const std::string& folder);

// The newest checkpoint that is whole. Each damaged one that it falls back
// past adds its message to damaged. nullopt when there is none.
[[nodiscard]] std::optional<Checkpoint> LoadNewestCheckpoint(
    const std::string& model_dir, std::vector<std::string>& damaged);

// The checkpoint that a path stands for: it, or the newest one in a model
// folder, as above.
[[nodiscard]] std::optional<Checkpoint> FindCheckpoint(
    const std::string& path, std::vector<std::string>& damaged);

// Every field in which the two differ, as "seed is 1, the checkpoint has 0;
// ..."; empty when they agree. A field that only one of them has is of another
// version, and is passed over.
[[nodiscard]] std::string DifferencesOf(const RunIdentity& run,
                                        const RunIdentity& checkpoint);

}  // namespace infeed
