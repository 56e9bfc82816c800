#pragma once

#include <cstdint>
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

// Uploads a local model directory to an object store, in rounds: files that
// changed, then the checkpoints that wait in the outbox, the newest first, then
// best.json, once the store has the checkpoint that it names. Removes
// checkpoints of the store that are not kept (KeepOptions), as on disk.
//
// Only a training run uploads metrics.jsonl; an evaluation beside a training
// run adds its other files to the store.
//
// The references must outlive it. One thread at a time, except for Add().
// Throws IoError; the next round continues.
class ModelUpload {
 public:
  struct Options {
    KeepOptions keep;
    bool trains = true;
  };

  ModelUpload(std::string model_dir, const RemoteFolder& remote, Outbox& outbox,
              SentFiles& sent, const Options& options);

  // in_store: the store's checkpoints. From now on those that are not kept are
  // removed.
  void BeginPruning(const std::vector<std::int64_t>& in_store);

  // Adds a written checkpoint; may be called from another thread than Round().
  void Add(std::int64_t step, const std::string& folder);

  void Round(const std::stop_token& stop = {});

  // What a round would upload: names of files, "checkpoint 42".
  [[nodiscard]] std::vector<std::string> Pending() const;

 private:
  [[nodiscard]] std::vector<std::string> ChangedFiles() const;
  [[nodiscard]] std::optional<std::int64_t> BestStep() const;
  [[nodiscard]] KeepOptions Keep() const;
  void SendFile(const std::string& name, const std::stop_token& stop);
  void SendCheckpoints(const std::stop_token& stop);
  void SendBest(const std::stop_token& stop);
  void Prune();

  std::string model_dir_;
  const RemoteFolder& remote_;
  RemoteCheckpoints checkpoints_;
  Outbox& outbox_;
  SentFiles& sent_;
  Options options_;
  std::set<std::int64_t> in_store_;
  // The newest checkpoint of this run; later steps in the store were written
  // before the run resumed from an earlier one.
  std::int64_t newest_ = -1;
  bool prunes_ = false;
  std::optional<std::int64_t> best_sent_;
};

}  // namespace infeed
