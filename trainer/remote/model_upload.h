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

// Takes a local model_dir to one in an object store, round by round: files that
// changed, then the checkpoints that wait in the outbox, the newest first, then
// best.json, once what it names is there; and removes those checkpoints of the
// store that a disk would not keep.
//
// Who trains alone sends metrics.jsonl; an evaluation beside a training adds
// its other files to those of the store.
//
// Everything refers to what its creator owns. One thread at a time, but for
// Add(). Throws IoError; the next round goes on.
class ModelUpload {
 public:
  struct Options {
    KeepOptions keep;
    bool trains = true;
  };

  ModelUpload(std::string model_dir, const RemoteFolder& remote, Outbox& outbox,
              SentFiles& sent, const Options& options);

  // in_store: the checkpoints there. From now on those that are not kept are
  // removed.
  void BeginPruning(const std::vector<std::int64_t>& in_store);

  // A checkpoint that was written; from another thread than Round()'s.
  void Add(std::int64_t step, const std::string& folder);

  void Round(const std::stop_token& stop = {});

  // What a round would send: names of files, "checkpoint 42".
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
  // Of this run; those of later steps are of a course that it left.
  std::int64_t newest_ = -1;
  bool prunes_ = false;
  std::optional<std::int64_t> best_sent_;
};

}  // namespace infeed
