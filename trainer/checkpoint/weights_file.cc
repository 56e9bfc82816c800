#include "trainer/checkpoint/weights_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/tensors/pth_file.h"
#include "trainer/tensors/safetensors.h"
#include "trainer/tensors/tensor_bundle.h"
#include "trainer/tensors/tensorflow_weights.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHeadBytes = 9;
constexpr char kPickleMagic = '\x80';  // of torch's older files
constexpr std::string_view kZipMagic = "PK";

// Whether the path is a folder; throws when it does not exist.
bool IsFolder(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    throw IoError(path, "read the weights", ENOENT);
  }
  return fs::is_directory(status);
}

std::optional<FoundWeights> ReadOurs(const std::string& folder) {
  std::vector<std::string> damaged;
  std::optional<Checkpoint> checkpoint = FindCheckpoint(folder, damaged);
  if (!checkpoint) {
    if (!damaged.empty()) {
      throw DataError({.path = folder},
                      "all checkpoints in it are damaged; " + damaged.front());
    }
    return std::nullopt;
  }
  return FoundWeights{.what = "the checkpoint of step " +
                              std::to_string(checkpoint->step) + " in " +
                              folder,
                      .tensors = std::move(checkpoint->state.model)};
}

// Reads a file, whose type follows from its first bytes.
FoundWeights ReadFile(const std::string& path) {
  std::array<char, kHeadBytes> head{};
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw IoError(path, "open", errno);
  }
  file.read(head.data(), head.size());
  if (std::string_view(head.data(), 2) == kZipMagic ||
      head[0] == kPickleMagic) {
    return {.what = "the torch.save() file " + path, .tensors = ReadPth(path)};
  }
  if (head.back() != '{') {  // After the header's length.
    throw DataError({.path = path},
                    "neither a safetensors file, nor a torch.save() file, nor "
                    "a TensorFlow checkpoint");
  }
  return {.what = "the safetensors file " + path,
          .tensors = ReadSafetensors(path)};
}

}  // namespace

FoundWeights ReadWeights(const std::string& path,
                         const std::vector<LayerPlan>& layers) {
  if (const std::optional<std::string> prefix = FindTensorBundle(path)) {
    return {.what = "the TensorFlow checkpoint " + *prefix,
            .tensors = ReadTensorflowWeights(TensorBundle(*prefix), layers)};
  }
  if (!IsFolder(path)) {
    return ReadFile(path);
  }
  if (std::optional<FoundWeights> ours = ReadOurs(path)) {
    return std::move(*ours);
  }
  throw UsageError(path +
                   ": no checkpoint in this folder; give a model_dir, a "
                   "checkpoint, or a file of weights");
}

}  // namespace infeed
