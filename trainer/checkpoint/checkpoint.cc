#include "trainer/checkpoint/checkpoint.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/atomic_file.h"
#include "base/error.h"
#include "pipeline/options/option_text.h"
#include "records/bytes/crc32c.h"
#include "trainer/checkpoint/manifest.h"
#include "trainer/formats/safetensors.h"
#include "trainer/results/model_dir.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMaxManifestBytes = 4096;

// Whether a folder has a MANIFEST, which makes it a checkpoint. The MANIFEST
// may be damaged: a folder, or a broken link.
bool HasManifest(const std::string& folder) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(PathIn(folder, kManifestFile), ignored));
}

// Whether an error comes from this process or machine, not from the file.
bool IsOfProcess(const IoError& error) {
  const int value = error.errno_value();
  return value == EMFILE || value == ENFILE || value == ENOMEM ||
         value == EINTR;
}

// The size of a file of a checkpoint. Throws DataError for a missing file and
// for anything but a file: the checkpoint is damaged.
std::int64_t SizeOf(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    throw DataError({.path = path}, "is missing");
  }
  if (error) {
    throw IoError(path, "stat", error.value());
  }
  if (!fs::is_regular_file(status)) {
    throw DataError({.path = path}, "is not a regular file");
  }
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) {
    throw IoError(path, "stat", error.value());
  }
  return static_cast<std::int64_t>(size);
}

std::string ReadManifest(const std::string& path) {
  const std::int64_t size = SizeOf(path);
  if (size > kMaxManifestBytes) {
    throw DataError({.path = path},
                    fmt::format("has {} bytes: not a manifest", size));
  }
  return ReadWholeFile(path, size);
}

std::string ReadChecked(const std::string& folder, std::string_view name,
                        const Manifest& manifest) {
  const std::string path = PathIn(folder, name);
  const auto entry =
      std::ranges::find(manifest.files, name, &Manifest::File::name);
  if (entry == manifest.files.end()) {
    throw DataError({.path = path}, "is not in the manifest");
  }
  const FileSum& sum = entry->sum;
  const std::int64_t size = SizeOf(path);
  if (size != sum.size) {
    throw DataError(
        {.path = path},
        fmt::format("has {} bytes, the manifest says {}", size, sum.size));
  }
  std::string bytes = ReadWholeFile(path, size);
  if (Crc32c(std::as_bytes(std::span(bytes))) != sum.crc32c) {
    throw DataError({.path = path}, "has another checksum than the manifest");
  }
  return bytes;
}

TensorMap ReadTensors(const std::string& folder, std::string_view name,
                      const Manifest& manifest) {
  const std::string bytes = ReadChecked(folder, name, manifest);
  return InFile(PathIn(folder, name), [&] {
    return ParseSafetensors(std::as_bytes(std::span(bytes)));
  });
}

// A checkpoint's state.json, with the manifest that has its checksum.
struct StateFile {
  Manifest manifest;
  Checkpoint checkpoint;  // without the tensors
};

StateFile ReadState(const std::string& folder) {
  const std::string manifest_path = PathIn(folder, kManifestFile);
  const std::string manifest_text = ReadManifest(manifest_path);
  StateFile file;
  file.manifest =
      InFile(manifest_path, [&] { return ParseManifest(manifest_text); });
  const std::string state = ReadChecked(folder, kStateFile, file.manifest);
  file.checkpoint =
      InFile(PathIn(folder, kStateFile), [&] { return ParseRunState(state); });
  if (file.manifest.step != file.checkpoint.step) {
    throw DataError({.path = folder}, "holds the state of another step");
  }
  return file;
}

Checkpoint ReadFolder(const std::string& folder) {
  auto [manifest, checkpoint] = ReadState(folder);
  checkpoint.state.model = ReadTensors(folder, kModelFile, manifest);
  checkpoint.state.optimizer = ReadTensors(folder, kOptimizerFile, manifest);
  return checkpoint;
}

// Calls read(); a file that cannot be read makes the checkpoint damaged.
template <typename Read>
Checkpoint Readable(Read read) {
  try {
    return read();
  } catch (const IoError& error) {
    if (IsOfProcess(error)) {
      throw;
    }
    throw DataError(error.what());
  }
}

// Throws DataError where a folder has the checkpoint of another step.
Checkpoint OfStep(Checkpoint checkpoint, std::int64_t step,
                  const std::string& folder) {
  if (checkpoint.step != step) {
    throw DataError({.path = folder}, "holds the state of another step");
  }
  return checkpoint;
}

}  // namespace

std::vector<std::int64_t> ListCheckpoints(const std::string& model_dir) {
  std::vector<std::int64_t> steps = CheckpointSteps(NamesInFolder(model_dir));
  std::erase_if(steps, [&](std::int64_t step) {
    return !HasManifest(CheckpointFolder(model_dir, step));
  });
  return steps;
}

Checkpoint LoadCheckpointFolder(const std::string& folder) {
  return Readable([&] { return ReadFolder(folder); });
}

Checkpoint LoadCheckpoint(const std::string& model_dir, std::int64_t step) {
  const std::string folder = CheckpointFolder(model_dir, step);
  return OfStep(LoadCheckpointFolder(folder), step, folder);
}

Checkpoint LoadRunState(const std::string& model_dir, std::int64_t step) {
  const std::string folder = CheckpointFolder(model_dir, step);
  return OfStep(Readable([&] { return ReadState(folder).checkpoint; }), step,
                folder);
}

std::optional<Checkpoint> LoadNewestCheckpoint(
    const std::string& model_dir, std::vector<std::string>& damaged) {
  // Includes those that lost their MANIFEST: a folder gets its name only when
  // it is complete.
  std::vector<std::int64_t> steps = CheckpointSteps(NamesInFolder(model_dir));
  for (; !steps.empty(); steps.pop_back()) {
    try {
      return LoadCheckpoint(model_dir, steps.back());
    } catch (const DataError& error) {
      damaged.emplace_back(error.what());
    }
  }
  return std::nullopt;
}

std::optional<Checkpoint> FindCheckpoint(const std::string& path,
                                         std::vector<std::string>& damaged) {
  if (HasManifest(path)) {
    return LoadCheckpointFolder(path);
  }
  return LoadNewestCheckpoint(path, damaged);
}

std::string DescribeDifferences(const RunIdentity& run,
                                const RunIdentity& checkpoint) {
  std::vector<std::string> differences;
  for (const auto& [name, value] : run) {
    const auto other = std::ranges::find(checkpoint, name, &StateField::name);
    if (other != checkpoint.end() && other->value != value) {
      differences.push_back(fmt::format("{} is {}, the checkpoint has {}", name,
                                        ShownJson(value),
                                        ShownJson(other->value)));
    }
  }
  return fmt::format("{}", fmt::join(differences, "; "));
}

}  // namespace infeed
