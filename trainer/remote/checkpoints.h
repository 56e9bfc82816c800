#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "trainer/remote/folder.h"

namespace infeed {

// The checkpoints of a model_dir in an object store: as on a disk, each is a
// folder of files, and is one only while it has a MANIFEST. So that is uploaded
// last and removed first.
//
// One thread at a time. Throws IoError.
class RemoteCheckpoints {
 public:
  explicit RemoteCheckpoints(RemoteFolder model_dir)
      : folder_(std::move(model_dir)) {}

  // The steps of those that are later than `after`, ascending.
  [[nodiscard]] std::vector<std::int64_t> List(std::int64_t after = -1) const;
  // "" where there is no such checkpoint.
  [[nodiscard]] std::string Manifest(std::int64_t step) const;

  // Uploads a checkpoint's folder in the place of what the store has of this
  // step.
  void Push(std::int64_t step, const std::string& folder,
            const std::stop_token& stop = {}) const;
  // Downloads one into a local model_dir, as it is, unless the same one is
  // there and whole: what it lacks is left out. It appears at once, in the
  // place of another of this step.
  void Pull(std::int64_t step, const std::string& model_dir) const;
  // Whether the local one is whole, and the same.
  [[nodiscard]] bool IsHere(std::int64_t step,
                            const std::string& model_dir) const;
  // Of these steps, ascending, downloads the newest one that is whole, and the
  // damaged ones before it: it is for who reads them to say so.
  void PullNewestWhole(const std::vector<std::int64_t>& steps,
                       const std::string& model_dir) const;
  // Downloads what makes it one, and no more: to know that it is there.
  void PullManifest(std::int64_t step, const std::string& model_dir) const;
  void Remove(std::int64_t step) const;

 private:
  RemoteFolder folder_;
};

// Whether a checkpoint's folder of this disk has all of it, undamaged.
[[nodiscard]] bool IsWholeCheckpoint(const std::string& folder);

}  // namespace infeed
