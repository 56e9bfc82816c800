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
  // Only to know what is there: no checkpoint's tensors come.
  bool only_looks = false;
  // Whether checkpoints that were never uploaded may be dropped.
  bool force = false;
  std::function<void(const std::string&)> say{};
};

// A model_dir in an object store and what there is of it on this disk. The
// store says what is true; this disk has copies of it, and what is not there
// yet.
//
// Begin() first; then Round() in one thread and the rest in another. Throws
// IoError.
class RemoteModel {
 public:
  // Rounds have a runtime of their own: they are tried again for ever.
  RemoteModel(RemoteModelOptions options,
              std::shared_ptr<const CloudRuntime> runtime,
              std::shared_ptr<const CloudRuntime> of_rounds, Outbox& outbox);

  // Uploads what a run that was killed here has left. Where the store is not as
  // that run left it, what is here goes; a UsageError says so instead where
  // that would drop a checkpoint that was never uploaded, unless forced to.
  //
  // Then downloads what a run needs: small files, and the newest whole
  // checkpoint, past those that are damaged; the best one; and the one that
  // resume names. Deletes checkpoints here that the store does not have.
  void Begin();

  // Downloads the store's newest checkpoint if it is newer than those here,
  // which go.
  void PullNewer();

  // As ModelUpload's.
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
