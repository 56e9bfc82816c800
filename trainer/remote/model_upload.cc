#include "trainer/remote/model_upload.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "records/bytes/base_name.h"
#include "trainer/checkpoint/best_checkpoint.h"
#include "trainer/model_dir/model_dir.h"

namespace infeed {

ModelUpload::ModelUpload(std::string model_dir, const RemoteFolder& remote,
                         Outbox& outbox, SentFiles& sent,
                         const Options& options)
    : model_dir_(std::move(model_dir)),
      remote_(remote),
      checkpoints_(remote),
      outbox_(outbox),
      sent_(sent),
      options_(options) {}

void ModelUpload::BeginPruning(const std::vector<std::int64_t>& in_store) {
  in_store_ = {in_store.begin(), in_store.end()};
  newest_ = -1;
  prunes_ = true;
  best_sent_ = BestStep();
}

// With this order, a store that is read at any moment has no metrics older than
// its checkpoints, and no best.json that names a missing checkpoint.
void ModelUpload::Round(const std::stop_token& stop) {
  for (const std::string& name : ChangedFiles()) {
    if (name != BaseName(BestPath(model_dir_))) {
      SendFile(name, stop);
    }
  }
  SendCheckpoints(stop);
  SendBest(stop);
  Prune();
}

std::vector<std::string> ModelUpload::Pending() const {
  std::vector<std::string> names = ChangedFiles();
  for (const std::int64_t step : outbox_.Steps()) {
    names.push_back(fmt::format("the checkpoint of step {}", step));
  }
  return names;
}

// An evaluation's metrics.jsonl has only its own lines; the store keeps that of
// the training run.
std::vector<std::string> ModelUpload::ChangedFiles() const {
  std::vector<std::string> names = sent_.Changed();
  if (!options_.trains) {
    std::erase(names, BaseName(MetricsPath(model_dir_)));
  }
  return names;
}

std::optional<std::int64_t> ModelUpload::BestStep() const {
  return RecordedBestStep(model_dir_);
}

void ModelUpload::Add(std::int64_t step, const std::string& folder) {
  outbox_.AddCheckpoint(step, folder);
  outbox_.DropSuperseded(Keep());
}

KeepOptions ModelUpload::Keep() const {
  KeepOptions keep = options_.keep;
  keep.best = BestStep();
  return keep;
}

// Reads the file's state first: if the file changes meanwhile, it is sent
// again.
void ModelUpload::SendFile(const std::string& name,
                           const std::stop_token& stop) {
  const SentFiles::State state = sent_.StateOf(name);
  remote_.Push(PathIn(model_dir_, name), name, stop);
  sent_.Note(name, state);
}

void ModelUpload::SendCheckpoints(const std::stop_token& stop) {
  while (const std::optional<std::int64_t> step = outbox_.BeginNewest()) {
    newest_ = std::max(newest_, *step);
    checkpoints_.Push(*step, outbox_.FolderOf(*step), stop);
    in_store_.insert(*step);
    sent_.NoteNewestStep(std::max(sent_.newest_step(), *step));
    outbox_.DropCheckpoint(*step);
  }
}

void ModelUpload::SendBest(const std::stop_token& stop) {
  const std::string name(BaseName(BestPath(model_dir_)));
  const std::optional<std::int64_t> best = BestStep();
  const std::vector<std::string> changed = ChangedFiles();
  if (best && in_store_.contains(*best) &&
      std::ranges::binary_search(changed, name)) {
    SendFile(name, stop);
    best_sent_ = best;
  }
}

// As RemoveOthers() in trainer/checkpoint/save.cc. The checkpoint that the
// store's best.json names stays until best.json names another.
void ModelUpload::Prune() {
  if (!prunes_) {
    return;
  }
  const std::vector<std::int64_t> steps(in_store_.begin(),
                                        in_store_.upper_bound(newest_));
  for (const std::int64_t step : NotKept(steps, Keep())) {
    if (step != best_sent_) {
      checkpoints_.Remove(step);
      in_store_.erase(step);
    }
  }
}

}  // namespace infeed
