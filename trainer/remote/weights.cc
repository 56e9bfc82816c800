#include "trainer/remote/weights.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/http/url.h"
#include "trainer/model_dir/model_dir.h"
#include "trainer/remote/checkpoints.h"
#include "trainer/remote/folder.h"
#include "trainer/tensors/tensor_bundle.h"

namespace infeed {
namespace {

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

// Downloads a file, and, if it belongs to a TensorFlow checkpoint, the rest of
// it.
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

std::optional<std::string> PullFolder(const RemoteFolder& remote,
                                      const std::string& folder) {
  if (remote.Has(kManifestFile)) {
    PullFiles(remote, "", folder);
    return folder;
  }
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

std::string PullWeights(const std::string& url, const std::string& folder,
                        const std::shared_ptr<const CloudRuntime>& runtime) {
  MakeFolder(folder);
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
          PullFolder(RemoteFolder(url, runtime), folder)) {
    return *std::move(found);
  }
  throw IoError(UrlForMessages(url) +
                ": no weights there; give a model_dir, a checkpoint, or a file "
                "of weights (check the URL)");
}

}  // namespace infeed
