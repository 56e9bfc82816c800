#include "trainer/remote/checkpoints.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/shown_text.h"
#include "records/files/open_source.h"
#include "records/http/url.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/named_weights.h"
#include "trainer/formats/tensor_bundle.h"
#include "trainer/results/export_folder.h"
#include "trainer/results/model_dir.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> kFiles = {kModelFile, kOptimizerFile,
                                                    kStateFile, kManifestFile};
constexpr std::int64_t kMaxManifestBytes = 4096;

// "checkpoint-NNNNNNNN/NAME".
std::string NameOf(std::int64_t step, std::string_view file) {
  return PathIn(CheckpointFolder("", step), file);
}

// A URL's last part, and its folder.
struct Place {
  RemoteFolder parent;
  std::string name;
};

Place PlaceOf(std::string url,
              const std::shared_ptr<const CloudRuntime>& runtime) {
  while (url.ends_with('/')) {
    url.pop_back();
  }
  const std::size_t slash = url.rfind('/');
  return {.parent = RemoteFolder(url.substr(0, slash), runtime),
          .name = url.substr(slash + 1)};
}

// Downloads all files whose names begin with the prefix.
void PullFiles(const RemoteFolder& remote, const std::string& prefix,
               const std::string& folder) {
  for (const RemoteFile& file : remote.List(prefix)) {
    if (file.name.find('/', prefix.size()) == std::string::npos) {
      remote.Pull(file.name, PathIn(folder, file.name));
    }
  }
}

void PullIfThere(const RemoteFolder& remote, std::string_view name,
                 const std::string& folder) {
  if (remote.Has(name)) {
    remote.Pull(name, PathIn(folder, name));
  }
}

// Downloads a file, and, if it belongs to a TensorFlow checkpoint, the rest of
// it. For an export or a checkpoint, also downloads the file that describes the
// weights.
std::optional<std::string> PullFile(const Place& place,
                                    const std::string& folder) {
  if (!place.parent.Has(place.name)) {
    return std::nullopt;
  }
  for (const std::string_view mark : {".index", ".data-"}) {
    if (const std::size_t end = place.name.rfind(mark);
        end != std::string::npos) {
      PullFiles(place.parent, place.name.substr(0, end) + ".", folder);
      return PathIn(folder, place.name);
    }
  }
  place.parent.Pull(place.name, PathIn(folder, place.name));
  PullIfThere(place.parent, kExportFactsFile, folder);
  PullIfThere(place.parent, kStateFile, folder);
  return PathIn(folder, place.name);
}

std::optional<std::string> PullPrefix(const Place& place,
                                      const std::string& folder) {
  if (!place.parent.Has(place.name + ".index")) {
    return std::nullopt;
  }
  PullFiles(place.parent, place.name + ".", folder);
  return PathIn(folder, place.name);
}

// For a checkpoint, also downloads labels.txt of its model directory.
std::optional<std::string> PullFolder(const RemoteFolder& remote,
                                      const RemoteFolder& parent,
                                      const std::string& folder) {
  constexpr std::string_view kLabels = "labels.txt";
  if (remote.Has(kManifestFile)) {
    PullFiles(remote, "", folder);
    PullIfThere(parent, kLabels, folder);
    return folder;
  }
  PullIfThere(remote, kLabels, folder);
  const RemoteCheckpoints checkpoints(remote);
  if (const std::vector<std::int64_t> steps = checkpoints.List();
      !steps.empty()) {
    checkpoints.PullNewestUndamaged(steps, folder);
    return folder;
  }
  if (remote.Has("checkpoint")) {
    remote.Pull("checkpoint", PathIn(folder, "checkpoint"));
    const std::string newest =
        std::filesystem::path(FindTensorBundle(folder).value_or(""))
            .filename()
            .string();
    PullFiles(remote, newest + ".", folder);
    return PathIn(folder, newest);
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::int64_t> RemoteCheckpoints::List(std::int64_t after) const {
  std::vector<std::int64_t> steps = CheckpointSteps(folder_.Folders());
  std::erase_if(steps, [&](std::int64_t step) {
    return step <= after || !folder_.Has(NameOf(step, kManifestFile));
  });
  return steps;
}

std::string RemoteCheckpoints::Manifest(std::int64_t step) const {
  return folder_.ReadText(NameOf(step, kManifestFile), kMaxManifestBytes)
      .value_or("");
}

void RemoteCheckpoints::Push(std::int64_t step, const std::string& folder,
                             const std::stop_token& stop) const {
  // The existing checkpoint may be damaged, with the same manifest.
  folder_.Remove(NameOf(step, kManifestFile));
  for (const std::string_view file : kFiles) {
    folder_.Push(PathIn(folder, file), NameOf(step, file), stop);
  }
}

void RemoteCheckpoints::Pull(std::int64_t step,
                             const std::string& model_dir) const {
  if (IsDownloaded(step, model_dir)) {
    return;
  }
  const std::string fresh = TemporaryCheckpointFolder(model_dir, step, "new");
  const std::string folder = CheckpointFolder(model_dir, step);
  fs::remove_all(fresh);
  MakeFolder(fresh);
  for (const RemoteFile& file : folder_.List(NameOf(step, ""))) {
    const std::string name = fs::path(file.name).filename().string();
    if (std::ranges::find(kFiles, name) != kFiles.end()) {
      folder_.Pull(file.name, PathIn(fresh, name));
    }
  }
  std::error_code error;
  fs::remove_all(folder, error);
  fs::rename(fresh, folder, error);
  if (error) {
    throw IoError(folder, "write the checkpoint", error.value());
  }
}

bool RemoteCheckpoints::IsDownloaded(std::int64_t step,
                                     const std::string& model_dir) const {
  const std::string folder = CheckpointFolder(model_dir, step);
  const std::string manifest = PathIn(folder, kManifestFile);
  return fs::exists(manifest) && IsWholeCheckpoint(folder) &&
         ReadWholeFile(manifest, kMaxManifestBytes) == Manifest(step);
}

void RemoteCheckpoints::PullNewestUndamaged(
    const std::vector<std::int64_t>& steps,
    const std::string& model_dir) const {
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    Pull(*step, model_dir);
    if (IsWholeCheckpoint(CheckpointFolder(model_dir, *step))) {
      return;
    }
  }
}

void RemoteCheckpoints::PullState(std::int64_t step,
                                  const std::string& model_dir) const {
  for (const std::string_view file : {kStateFile, kManifestFile}) {
    PullIfThere(folder_, NameOf(step, file), model_dir);
  }
}

void RemoteCheckpoints::Remove(std::int64_t step) const {
  folder_.Remove(NameOf(step, kManifestFile));
  for (const RemoteFile& file : folder_.List(NameOf(step, ""))) {
    folder_.Remove(file.name);
  }
}

bool IsWholeCheckpoint(const std::string& folder) {
  try {
    (void)LoadCheckpointFolder(folder);
    return true;
  } catch (const DataError&) {
    return false;
  }
}

std::vector<std::string> ListWeights(
    const std::string& url, const std::string& name,
    const std::shared_ptr<const CloudRuntime>& runtime) {
  std::vector<std::string> names;
  if (IsBucketScheme(ParseUrl(url).scheme)) {
    for (const RemoteFile& file : RemoteFolder(url, runtime).List(name)) {
      if (file.name.find('/') == std::string::npos) {
        names.push_back(file.name);
      }
    }
    return names;
  }
  for (const std::string& file : PlainNamesOf(name)) {
    if (runtime->store.Find(FileInFolder(url, file))) {
      names.push_back(file);
    }
  }
  return names;
}

std::string PullWeights(const std::string& url, const std::string& folder,
                        const std::shared_ptr<const CloudRuntime>& runtime) {
  MakeFolder(folder);
  if (!IsBucketScheme(ParseUrl(url).scheme)) {
    std::string path = PathIn(folder, FileNameOf(url));
    PullObject(*runtime, url, path);
    return path;
  }
  const Place place = PlaceOf(url, runtime);
  if (!url.ends_with('/')) {
    if (std::optional<std::string> file = PullFile(place, folder)) {
      return *std::move(file);
    }
    if (std::optional<std::string> prefix = PullPrefix(place, folder)) {
      return *std::move(prefix);
    }
  }
  if (std::optional<std::string> found =
          PullFolder(RemoteFolder(url, runtime), place.parent, folder)) {
    return *std::move(found);
  }
  throw IoError(UrlForMessages(url) +
                ": no weights there; give a model_dir, a checkpoint, or a file "
                "of weights (check the URL)");
}

}  // namespace infeed
