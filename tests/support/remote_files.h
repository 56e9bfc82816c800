#pragma once

#include <memory>
#include <string>

#include "base/atomic_file.h"
#include "tests/support/cloud_fixture.h"
#include "tests/support/made_checkpoint.h"
#include "tests/support/temporary_folder.h"
#include "trainer/checkpoint/save.h"
#include "trainer/remote/folder.h"
#include "trainer/results/model_dir.h"

namespace infeed {

// A folder of a bucket, as the store's own commands see it, and one of this
// disk. Uploads are given up at once.
class RemoteFiles : public CloudFixture {
 protected:
  static constexpr const char* kUrl = "gs://gs-shards/model";

  RemoteFiles() : CloudFixture({"--min_part=1"}) {
    settings_.retry.attempts = 2;
    SetCloudSettings(settings_);
    runtime_ = SharedCloudRuntime();
  }

  [[nodiscard]] static std::string PlaceOf(const std::string& name) {
    return "gs-shards/model/" + name;
  }
  [[nodiscard]] std::string There(const std::string& name) const {
    return server_.Get(PlaceOf(name));
  }
  [[nodiscard]] bool IsThere(const std::string& name) const {
    return server_.Has(PlaceOf(name));
  }
  [[nodiscard]] static std::string NameIn(std::int64_t step,
                                          std::string_view file) {
    return PathIn(CheckpointFolder("", step), file);
  }
  // Writes a checkpoint on this disk; its folder.
  std::string Save(std::int64_t step, const std::string& model_dir) const {
    return SaveCheckpoint(model_dir, MadeCheckpoint(step), {.last = 100});
  }
  void Write(const std::string& path, const std::string& text) const {
    MakeFolder(std::filesystem::path(path).parent_path().string());
    WriteFileAtomically(path, text);
  }
  [[nodiscard]] static std::string Read(const std::string& path) {
    return ReadWholeFile(path, 1 << 20);
  }

  TemporaryFolder disk_;
  std::shared_ptr<const CloudRuntime> runtime_;
};

}  // namespace infeed
