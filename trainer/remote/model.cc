#include "trainer/remote/model.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/bytes/plain_text.h"
#include "trainer/checkpoint/best_checkpoint.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/results/model_dir.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMetrics = "metrics.jsonl";
constexpr const char* kEvalBelow = "eval/";

// Whether a file is an evaluation's, which a run reads.
bool IsEvaluation(const std::string& name) {
  return name.starts_with(kEvalBelow) &&
         EvalStep(name.substr(std::string_view(kEvalBelow).size()));
}

std::string StepsText(const std::vector<std::int64_t>& steps) {
  return fmt::format("the checkpoint{0} of step{0} {1}",
                     steps.size() == 1 ? "" : "s", fmt::join(steps, ", "));
}

}  // namespace

RemoteModel::RemoteModel(RemoteModelOptions options,
                         std::shared_ptr<const CloudRuntime> runtime,
                         std::shared_ptr<const CloudRuntime> of_rounds,
                         Outbox& outbox)
    : options_(std::move(options)),
      remote_(options_.url, std::move(runtime)),
      outgoing_(options_.url, std::move(of_rounds)),
      checkpoints_(remote_),
      outgoing_checkpoints_(outgoing_),
      outbox_(outbox),
      sent_(options_.model_dir, options_.record) {
  MakeFolder(options_.model_dir, "make the scratch folder");
}

void RemoteModel::Begin() {
  AddUnsent();
  if (const std::string what = WhatChanged(); !what.empty()) {
    Empty(what);
  } else {
    if (const std::size_t left = outbox_.Steps().size(); left > 0) {
      options_.say(fmt::format(
          "uploading {} that an earlier run left in {}",
          left == 1 ? "a checkpoint" : fmt::format("{} checkpoints", left),
          options_.model_dir));
    }
    Round();
    DropLeftCourse();
  }
  DropOthers();
  PullFiles();
  PullCheckpoints();
  if (const std::vector<std::int64_t> here =
          ListCheckpoints(options_.model_dir);
      !here.empty()) {
    sent_.NoteNewestStep(here.back());
  }
  sent_.NoteNewCourse(options_.keep.drops_later ? std::optional(-1)
                                                : std::nullopt);
  BeginPruning();
}

// A run that was killed after its first checkpoint since it went back had
// dropped the later ones on this disk, but not yet in the store.
void RemoteModel::DropLeftCourse() {
  const std::int64_t newest = sent_.new_course().value_or(-1);
  if (newest < 0) {
    return;
  }
  for (const std::int64_t step : checkpoints_.List(newest)) {
    outgoing_checkpoints_.Remove(step);
  }
  sent_.NoteNewCourse({});
}

// Adds checkpoints that are missing in the outbox because the run was killed
// right after writing them.
void RemoteModel::AddUnsent() {
  const std::vector<std::int64_t> waiting = outbox_.Steps();
  for (const std::int64_t step : ListCheckpoints(options_.model_dir)) {
    const std::string folder = CheckpointFolder(options_.model_dir, step);
    if (step > sent_.newest_step() &&
        !std::ranges::binary_search(waiting, step) &&
        IsWholeCheckpoint(folder)) {
      outbox_.AddCheckpoint(step, folder);
    }
  }
}

// The change in the store since the last run on this machine; "": none. A run
// first appends to metrics.jsonl, so the store's file is a prefix of the local
// one only if no other run has written to the store.
std::string RemoteModel::WhatChanged() const {
  constexpr const char* kOther = "another run has trained there since";
  const std::optional<std::int64_t> size = remote_.FindSize(kMetrics);
  const SentFiles::State here = sent_.ReadState(kMetrics);
  if (!size) {
    return sent_.WasSent(kMetrics)
               ? "its metrics.jsonl is missing: the folder was emptied, or the "
                 "URL is that of another folder"
               : "";
  }
  if (*size > here.size) {
    return kOther;
  }
  const std::string there = remote_.ReadText(kMetrics, here.size).value_or("");
  return ReadWholeFile(MetricsPath(options_.model_dir), here.size)
                 .starts_with(there)
             ? ""
             : kOther;
}

void RemoteModel::Empty(const std::string& what_changed) {
  const std::vector<std::int64_t> unsent = outbox_.Steps();
  if (!unsent.empty() && !options_.force) {
    throw UsageError(fmt::format(
        "model_dir={}: the store has changed since the last run on this "
        "machine: {}; not uploaded yet: {}, in {}; give the right URL, or copy "
        "what you need from there; --force deletes it",
        options_.url, what_changed, StepsText(unsent),
        fs::path(outbox_.FolderOf(unsent.front())).parent_path().string()));
  }
  for (const std::int64_t step : unsent) {
    options_.say(
        fmt::format("deleting the checkpoint of step {}, which was never "
                    "uploaded, because of --force: {}",
                    step, what_changed));
    outbox_.DropCheckpoint(step);
  }
  RemoveFolder(options_.model_dir);
  MakeFolder(options_.model_dir);
  sent_.Forget();
}

// Deletes local checkpoints that the store does not have, or has with other
// contents.
void RemoteModel::DropOthers() {
  for (const std::string& name : NamesInFolder(options_.model_dir)) {
    const std::optional<std::int64_t> step = CheckpointStep(name);
    if (IsTemporaryCheckpoint(name) ||
        (step && !checkpoints_.IsDownloaded(*step, options_.model_dir))) {
      RemoveFolder(PathIn(options_.model_dir, name));
    }
  }
}

void RemoteModel::PullFiles() {
  std::vector<std::string> names = {"params.yaml", "labels.txt", "best.json"};
  if (options_.trains || options_.reads_log) {
    names.emplace_back(kMetrics);
  }
  if (options_.trains) {
    names.emplace_back("evaluations.json");
  }
  std::erase_if(names,
                [&](const std::string& name) { return !remote_.Has(name); });
  if (options_.trains) {
    for (const RemoteFile& file : remote_.List(kEvalBelow)) {
      if (IsEvaluation(file.name)) {
        names.push_back(file.name);
      }
    }
  }
  for (const std::string& name : names) {
    const std::string path = PathIn(options_.model_dir, name);
    if (!fs::exists(path)) {
      remote_.Pull(name, path);
      sent_.Note(name, sent_.ReadState(name));
    }
  }
}

void RemoteModel::PullCheckpoints() {
  const std::vector<std::int64_t> steps = checkpoints_.List();
  if (options_.resume == "never" || options_.checkpoints == 0) {
    for (const std::int64_t step : steps) {
      checkpoints_.PullState(step, options_.model_dir);
    }
    return;
  }
  checkpoints_.PullNewestUndamaged(steps, options_.model_dir);
  const std::optional<std::int64_t> best =
      options_.trains || options_.resume == "best"
          ? RecordedBestStep(options_.model_dir)
          : std::nullopt;
  auto end = steps.end();  // after the one that the run uses
  for (auto step = steps.begin(); step != steps.end(); ++step) {
    if (*step == best || std::to_string(*step) == options_.resume) {
      checkpoints_.Pull(*step, options_.model_dir);
      end = step + 1;
    }
  }
  const auto more = std::min<std::ptrdiff_t>(options_.checkpoints,
                                             std::distance(steps.begin(), end));
  for (auto step = end - more; options_.checkpoints > 1 && step != end;
       ++step) {
    checkpoints_.Pull(*step, options_.model_dir);
  }
}

void RemoteModel::PullNewer() {
  const std::vector<std::int64_t> here = ListCheckpoints(options_.model_dir);
  const std::vector<std::int64_t> newer =
      checkpoints_.List(here.empty() ? -1 : here.back());
  if (newer.empty()) {
    return;
  }
  checkpoints_.Pull(newer.back(), options_.model_dir);
  for (const std::int64_t step : here) {
    RemoveFolder(CheckpointFolder(options_.model_dir, step));
  }
}

// From now on, checkpoints of the store that are not kept are removed.
void RemoteModel::BeginPruning() {
  const std::vector<std::int64_t> steps = checkpoints_.List();
  in_store_ = {steps.begin(), steps.end()};
  newest_ = -1;
  prunes_ = true;
  best_sent_ = RecordedBestStep(options_.model_dir);
}

// With this order, a store that is read at any moment has no metrics older than
// its checkpoints, and no best.json that names a missing checkpoint.
void RemoteModel::Round(const std::stop_token& stop) {
  for (const std::string& name : ChangedFiles()) {
    if (name != BaseName(BestPath(options_.model_dir))) {
      SendFile(name, stop);
    }
  }
  RemoveEvaluations();
  SendCheckpoints(stop);
  SendBest(stop);
  Prune();
}

std::vector<std::string> RemoteModel::Pending() const {
  std::vector<std::string> names = ChangedFiles();
  for (const std::int64_t step : outbox_.Steps()) {
    names.push_back(fmt::format("the checkpoint of step {}", step));
  }
  return names;
}

// The metrics.jsonl of an evaluation has only its own lines; the store keeps
// the training run's file.
std::vector<std::string> RemoteModel::ChangedFiles() const {
  std::vector<std::string> names = sent_.Changed();
  if (!options_.trains) {
    std::erase(names, BaseName(MetricsPath(options_.model_dir)));
  }
  return names;
}

KeepOptions RemoteModel::Keep() const {
  KeepOptions keep = options_.keep;
  keep.best = RecordedBestStep(options_.model_dir);
  return keep;
}

// Reads the file's state first: if the file changes meanwhile, it is sent
// again.
void RemoteModel::SendFile(const std::string& name,
                           const std::stop_token& stop) {
  const SentFiles::State state = sent_.ReadState(name);
  outgoing_.Push(PathIn(options_.model_dir, name), name, stop);
  sent_.Note(name, state);
}

// Removes the evaluations of a course that the run has left.
void RemoteModel::RemoveEvaluations() {
  for (const std::string& name : sent_.Gone()) {
    if (IsEvaluation(name)) {
      outgoing_.Remove(name);
      sent_.Forget(name);
    }
  }
}

void RemoteModel::SendCheckpoints(const std::stop_token& stop) {
  while (const std::optional<std::int64_t> step = outbox_.BeginNewest()) {
    newest_ = std::max(newest_, *step);
    outgoing_checkpoints_.Push(*step, outbox_.FolderOf(*step), stop);
    in_store_.insert(*step);
    sent_.NoteNewestStep(std::max(sent_.newest_step(), *step));
    if (const std::optional<std::int64_t> newest = sent_.new_course()) {
      sent_.NoteNewCourse(std::max(*newest, *step));
    }
    outbox_.DropCheckpoint(*step);
  }
}

void RemoteModel::SendBest(const std::stop_token& stop) {
  const std::string name(BaseName(BestPath(options_.model_dir)));
  const std::optional<std::int64_t> best = RecordedBestStep(options_.model_dir);
  if (!best && best_sent_) {  // The run went back behind it.
    outgoing_.Remove(name);
    best_sent_.reset();
  }
  const std::vector<std::string> changed = ChangedFiles();
  if (best && in_store_.contains(*best) &&
      std::ranges::binary_search(changed, name)) {
    SendFile(name, stop);
    best_sent_ = best;
  }
}

// Removes checkpoints as RemoveOthers() in trainer/checkpoint/save.cc does. The
// one that the store's best.json names stays until best.json names another.
void RemoteModel::Prune() {
  if (!prunes_) {
    return;
  }
  const KeepOptions keep = Keep();
  const auto later = in_store_.upper_bound(newest_);
  std::vector<std::int64_t> gone = NotKept({in_store_.begin(), later}, keep);
  if (keep.drops_later && newest_ >= 0) {
    gone.insert(gone.end(), later, in_store_.end());
  }
  for (const std::int64_t step : gone) {
    if (step != best_sent_) {
      outgoing_checkpoints_.Remove(step);
      in_store_.erase(step);
    }
  }
  if (newest_ >= 0) {
    sent_.NoteNewCourse({});
  }
}

}  // namespace infeed
