#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "trainer/checkpoint/save.h"
#include "trainer/remote/checkpoints.h"
#include "trainer/remote/folder.h"
#include "trainer/remote/outbox.h"
#include "trainer/remote/sent_files.h"

namespace infeed {

struct RemoteModelOptions {
  std::string url{};        // of the model_dir in the store
  std::string model_dir{};  // on this disk; created if missing
  std::string record{};     // the file of SentFiles
  KeepOptions keep{};
  bool trains = true;
  std::string resume = "auto";  // RunOptions::resume
  // Needs that number of checkpoints: the one of `resume` and those before it.
  // 0: state.json of each alone.
  int checkpoints = 1;
  bool reads_log = false;  // needs metrics.jsonl, although it does not train
  // Whether checkpoints that were never uploaded may be dropped.
  bool force = false;
  std::function<void(const std::string&)> say{};
};

// A model directory in an object store and its copy on this disk. The store's
// state counts; the disk has copies of its files, and files not uploaded yet.
//
// Uploads run in rounds: files that changed, then the checkpoints that wait in
// the outbox, the newest first, then best.json, once the store has the
// checkpoint that it names. Then checkpoints of the store that are not kept
// (KeepOptions) are removed, as on disk. Only a training run uploads
// metrics.jsonl; an evaluation beside a training run adds its other files to
// the store.
//
// Call Begin() first; then Round() in one thread and the rest in another.
// Throws IoError; the next round continues.
class RemoteModel {
 public:
  // of_rounds: the runtime of rounds, which are retried without limit. The
  // outbox must outlive this object.
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

  // Adds a written checkpoint for the next round.
  void Add(std::int64_t step, const std::string& folder) {
    outbox_.AddCheckpoint(step, folder);
    outbox_.DropSuperseded(Keep());
  }
  void Round(const std::stop_token& stop = {});
  // The items that a round would upload: names of files, "the checkpoint of
  // step 42".
  [[nodiscard]] std::vector<std::string> Pending() const;

 private:
  [[nodiscard]] std::string WhatChanged() const;
  void AddUnsent();
  void DropLeftCourse();
  void Empty(const std::string& what_changed);
  void DropOthers();
  void PullFiles();
  void PullCheckpoints();

  [[nodiscard]] std::vector<std::string> ChangedFiles() const;
  [[nodiscard]] KeepOptions Keep() const;
  void BeginPruning();
  void SendFile(const std::string& name, const std::stop_token& stop);
  void RemoveEvaluations();
  void SendCheckpoints(const std::stop_token& stop);
  void SendBest(const std::stop_token& stop);
  void Prune();

  RemoteModelOptions options_;
  RemoteFolder remote_;
  RemoteFolder outgoing_;  // the same folder, in rounds
  RemoteCheckpoints checkpoints_;
  RemoteCheckpoints outgoing_checkpoints_;
  Outbox& outbox_;
  SentFiles sent_;
  std::set<std::int64_t> in_store_;  // the steps of the store's checkpoints
  // The newest checkpoint of this run; later steps in the store were written
  // before the run resumed from an earlier one.
  std::int64_t newest_ = -1;
  bool prunes_ = false;
  std::optional<std::int64_t> best_sent_;
};

}  // namespace infeed
