#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/order/stream_state.h"
#include "trainer/formats/host_tensor.h"

namespace infeed {

// The settings in which a run must agree with the run that wrote a checkpoint,
// to resume from it: their names as users know them, each value as JSON.
using RunIdentity = std::vector<StateField>;

// All state that a resumed run needs to continue as if it had not stopped.
struct Checkpoint {
  std::int64_t step = 0;  // updates done
  StreamPosition stream;  // of the training input
  // The fingerprint of all that was fed before it, of all ranks (Batch::fed).
  std::uint64_t fingerprint = 0;
  RunIdentity identity;
  // The identity of the training's evaluations (trainer/params/validation.h);
  // empty: none.
  RunIdentity validation = {};
  ModelState state;
};

// A checkpoint is a folder MODEL_DIR/checkpoint-NNNNNNNN of model.safetensors,
// optim.safetensors, state.json and MANIFEST, which has each file's size and
// CRC-32C and is written last. The folder gets its name only when complete and
// synced. docs/checkpoints.md has the formats; save.h writes them.

// The steps of the checkpoints in a model directory, ascending, without those
// that have no MANIFEST. Empty when the directory is missing.
[[nodiscard]] std::vector<std::int64_t> ListCheckpoints(
    const std::string& model_dir);

// Reads the checkpoint of a step and verifies every checksum. Throws DataError
// naming the file that is damaged or cannot be read; IoError where the process
// lacks memory or may open no more files.
[[nodiscard]] Checkpoint LoadCheckpoint(const std::string& model_dir,
                                        std::int64_t step);

// The same without the tensors: reads and verifies state.json alone.
[[nodiscard]] Checkpoint LoadRunState(const std::string& model_dir,
                                      std::int64_t step);

// Reads the checkpoint in a folder of any name.
[[nodiscard]] Checkpoint LoadCheckpointFolder(const std::string& folder);

// The newest undamaged checkpoint; nullopt when there is none. Adds an error
// message to `damaged` for each damaged checkpoint that is newer.
[[nodiscard]] std::optional<Checkpoint> LoadNewestCheckpoint(
    const std::string& model_dir, std::vector<std::string>& damaged);

// The checkpoint at a path: a checkpoint folder, or a model directory, whose
// newest one is read as above.
[[nodiscard]] std::optional<Checkpoint> FindCheckpoint(
    const std::string& path, std::vector<std::string>& damaged);

// Every field in which the two differ: "seed is 1, the checkpoint has 0; ...";
// empty when they agree. A field that only one of them has is from another
// version of the program, and is ignored.
[[nodiscard]] std::string DescribeDifferences(const RunIdentity& run,
                                              const RunIdentity& checkpoint);

}  // namespace infeed
