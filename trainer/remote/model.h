#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "trainer/checkpoint/save.h"
#include "trainer/remote/checkpoints.h"
#include "trainer/remote/folder.h"
#include "trainer/remote/model_upload.h"
#include "trainer/remote/outbox.h"
#include "trainer/remote/sent_files.h"

namespace infeed {

struct RemoteModelOptions {
  std::string url{};        // of the model_dir in the store
  std::string model_dir{};  // on this disk; made if missing
  std::string record{};     // SentFiles'
  KeepOptions keep{};
  bool trains = true;
  std::string resume = "auto";  // RunOptions::resume
  // Only look at what exists: do not download the tensors of checkpoints.
  bool only_looks = false;
  // Whether checkpoints that were never uploaded may be dropped.
  bool force = false;
  std::function<void(const std::string&)> say{};
};

// A model directory in an object store and its copy on this disk. The store's
// state counts; the disk has copies of its files, and files not uploaded yet.
//
// Call Begin() first; then Round() in one thread and the rest in another.
// Throws IoError.
class RemoteModel {
 public:
  // of_rounds: the runtime of rounds, which are retried without limit.
  RemoteModel(RemoteModelOptions options,
              std::shared_ptr<const CloudRuntime> runtime,
              std::shared_ptr<const CloudRuntime> of_rounds, Outbox& outbox);

  // Uploads the files of a run that was killed here. If the store has changed
  // since that run, deletes the local files instead; throws UsageError if that
  // would drop a checkpoint that was never uploaded, unless options.force is
  // set.
  //
  // Then downloads what a run needs: small files, the newest undamaged
  // checkpoint (and damaged newer ones), the best one, and the one that resume
  // names. Deletes local checkpoints that the store does not have.
  void Begin();

  // Downloads the store's newest checkpoint if it is newer than the local ones,
  // which are then deleted.
  void PullNewer();

  // As in ModelUpload.
  void Add(std::int64_t step, const std::string& folder) {
    upload_.Add(step, folder);
  }
  void Round(const std::stop_token& stop) { upload_.Round(stop); }
  [[nodiscard]] std::vector<std::string> Pending() const {
    return upload_.Pending();
  }

 private:
  [[nodiscard]] std::string WhatChanged() const;
  void AddUnsent();
  void Empty(const std::string& what_changed);
  void DropOthers();
  void PullFiles();
  void PullCheckpoints();

  RemoteModelOptions options_;
  RemoteFolder remote_;
  RemoteFolder outgoing_;
  RemoteCheckpoints checkpoints_;
  Outbox& outbox_;
  SentFiles sent_;
  ModelUpload upload_;
};

}  // namespace infeed
