#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "records/cloud/cloud_runtime.h"
#include "trainer/remote/folder.h"

namespace infeed {

// The checkpoints of a model directory in an object store. As on disk, each is
// a folder of files, and counts only while it has a MANIFEST. So the MANIFEST
// is uploaded last and removed first.
//
// One thread at a time. Throws IoError.
class RemoteCheckpoints {
 public:
  explicit RemoteCheckpoints(RemoteFolder model_dir)
      : folder_(std::move(model_dir)) {}

  // The steps of the checkpoints later than `after`, ascending.
  [[nodiscard]] std::vector<std::int64_t> List(std::int64_t after = -1) const;
  // The text of its MANIFEST; "" where there is no such checkpoint.
  [[nodiscard]] std::string Manifest(std::int64_t step) const;

  // Uploads a checkpoint's folder, replacing the store's checkpoint of this
  // step.
  void Push(std::int64_t step, const std::string& folder,
            const std::stop_token& stop = {}) const;
  // Downloads a checkpoint into a local model directory, unless the same one is
  // there undamaged. Files missing in the store are left out. The folder
  // appears only when complete, and replaces another checkpoint of this step.
  void Pull(std::int64_t step, const std::string& model_dir) const;
  // Whether the local checkpoint is undamaged and the same as the store's.
  [[nodiscard]] bool IsDownloaded(std::int64_t step,
                                  const std::string& model_dir) const;
  // Downloads the newest undamaged checkpoint of these steps, given in
  // ascending order. Also downloads damaged newer ones, so that the reader can
  // report them.
  void PullNewestUndamaged(const std::vector<std::int64_t>& steps,
                           const std::string& model_dir) const;
  // Downloads state.json and the MANIFEST alone, all that LoadRunState() reads.
  void PullState(std::int64_t step, const std::string& model_dir) const;
  void Remove(std::int64_t step) const;

 private:
  RemoteFolder folder_;
};

// Whether a local checkpoint folder is complete and undamaged.
[[nodiscard]] bool IsWholeCheckpoint(const std::string& folder);

// Downloads the weights at a URL into a folder and returns their path there.
// The URL may be, as in warm_start.h, a model directory, whose newest
// undamaged checkpoint is downloaded; a checkpoint's folder; a TensorFlow
// checkpoint's prefix, one of its files, or a folder whose `checkpoint` file
// names it; or any other file. At http(s) it is a file. Throws IoError where
// there is none.
[[nodiscard]] std::string PullWeights(
    const std::string& url, const std::string& folder,
    const std::shared_ptr<const CloudRuntime>& runtime);

// The names of files directly below a URL that could be those of weights of
// this name (named_weights.h). Throws IoError.
[[nodiscard]] std::vector<std::string> ListWeights(
    const std::string& url, const std::string& name,
    const std::shared_ptr<const CloudRuntime>& runtime);

}  // namespace infeed
