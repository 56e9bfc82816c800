#include "trainer/remote_run.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "records/cloud_runtime.h"
#include "records/open_source.h"
#include "trainer/checkpoint.h"
#include "trainer/remote_exports.h"
#include "trainer/remote_weights.h"
#include "trainer/uploading_log.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

// Each look is a list, which stores want money for.
constexpr std::chrono::seconds kLookPeriod{2};

bool UsesStore(const RunOptions& run) {
  return IsUrl(run.model_dir) || IsUrl(run.export_dir) || IsUrl(run.resume) ||
         IsUrl(run.params.values.resnet_checkpoint);
}

// Throws UsageError that names the flag.
void RequireBucket(const char* flag, const std::string& folder) {
  if (!IsUrl(folder)) {
    return;
  }
  try {
    RequireBucketUrl(folder);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}={}", flag, error.what()));
  }
}

// Whether it is the one that may write to its model_dir.
bool TrainsThere(const RunOptions& run) {
  return Trains(run.mode) && IsUrl(run.model_dir) && !run.dry_run;
}

ScratchFolder ScratchOf(const RunOptions& run, const std::string& base) {
  const std::string folder = base.empty() ? DefaultScratchBase() : base;
  return TrainsThere(run) ? ScratchFolder::OfUrl(folder, run.model_dir)
                          : ScratchFolder::OfThisProcess(folder);
}

void Discard(const std::string& folder) {
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

// A request that fails is given up early: the uploader tries again for ever.
std::shared_ptr<const CloudRuntime> RuntimeOfUploads() {
  CloudSettings settings = cloud_settings();
  settings.retry.attempts = 3;
  settings.retry.max_delay = std::chrono::seconds(2);
  settings.retry.max_retry_after = std::chrono::seconds(5);
  settings.retry.deadline = std::chrono::seconds(30);
  settings.connections = std::min(settings.connections, 4);
  return std::make_shared<const CloudRuntime>(std::move(settings));
}

}  // namespace

std::unique_ptr<RemoteRun> RemoteRun::Begin(RunOptions& run,
                                            const RemoteRunOptions& options) {
  if (!UsesStore(run)) {
    return nullptr;
  }
  RequireBucket("model_dir", run.model_dir);
  RequireBucket("export_dir", run.export_dir);
  // NOLINTNEXTLINE: the constructor is private.
  std::unique_ptr<RemoteRun> remote(new RemoteRun(run, options));
  run.storage = remote.get();
  return remote;
}

RemoteRun::RemoteRun(RunOptions& run, const RemoteRunOptions& options)
    : options_(options),
      scratch_(ScratchOf(run, options.scratch_base)),
      runtime_(SharedCloudRuntime()),
      upload_runtime_(RuntimeOfUploads()),
      outbox_(scratch_.outbox()) {
  if (IsUrl(run.model_dir)) {
    BeginModel(run);
  }
  if (IsUrl(run.export_dir)) {
    export_url_ = std::exchange(run.export_dir, scratch_.path() + "/export");
    Discard(run.export_dir);  // of a killed run, not finished
  }
  if (IsUrl(run.resume) &&
      (!Trains(run.mode) || ListCheckpoints(run.model_dir).empty())) {
    run.resume = Fetched(run.resume);
  }
  if (!run.dry_run) {
    uploader_.emplace([this](const std::stop_token& stop) { Round(stop); },
                      Uploader::Options{.say = options_.say});
  }
}

void RemoteRun::BeginModel(RunOptions& run) {
  const TrainParams& params = run.params.values;
  model_url_ = std::exchange(run.model_dir, scratch_.model_dir());
  model_ = std::make_unique<RemoteModel>(
      RemoteModelOptions{
          .url = model_url_,
          .model_dir = run.model_dir,
          .record = scratch_.path() + "/sent.json",
          .keep = {.last = params.keep_last, .every = params.keep_every},
          .trains = Trains(run.mode),
          .resume = run.resume,
          .only_looks = run.dry_run,
          .say = options_.say},
      runtime_, upload_runtime_, outbox_);
  if (Trains(run.mode) && !run.dry_run) {
    options_.say(fmt::format("model_dir {} is worked on in {}", model_url_,
                             run.model_dir));
  }
  model_->Begin();
}

std::unique_ptr<RunLog> RemoteRun::Watched(std::unique_ptr<RunLog> log) {
  if (model_ == nullptr) {
    return log;
  }
  return std::make_unique<UploadingLog>(
      std::move(log),
      UploadingLog::Hearers{
          .checkpoint =
              [this](std::int64_t step, const std::string& folder) {
                model_->Add(step, folder);
                uploader_->Wake();
              },
          .end = [this] { uploader_->Wake(); }});
}

void RemoteRun::Refresh() {
  const auto now = Clock::now();
  if (model_ == nullptr || now < next_look_) {
    return;
  }
  next_look_ = now + kLookPeriod;
  uploader_->Wake();
  try {
    model_->PullNewer();
  } catch (const IoError& error) {
    options_.say(std::string("a look for new checkpoints failed: ") +
                 error.what());
  }
}

std::string RemoteRun::Fetched(const std::string& path) {
  if (!IsUrl(path)) {
    return path;
  }
  const std::string folder = scratch_.path() + "/fetched";
  Discard(folder);
  std::string here = PullWeights(path, folder, runtime_);
  options_.say(fmt::format("downloaded {} to {}", path, here));
  return here;
}

std::string RemoteRun::Exported(const std::string& folder) {
  if (export_url_.empty()) {
    return folder;
  }
  std::string address = PostExport(folder, export_url_, outbox_, runtime_);
  uploader_->Wake();
  return address;
}

std::string RemoteRun::WithUrl(std::string text) const {
  const std::string here = scratch_.model_dir();
  const std::size_t place = text.find(here);
  if (!model_url_.empty() && place != std::string::npos) {
    text.replace(place, here.size(), model_url_);
  }
  return text;
}

ExitCode RemoteRun::Finish(ExitCode code) {
  Discard(scratch_.path() + "/fetched");
  if (!uploader_) {
    return code;
  }
  const bool is_done = uploader_->Finish(options_.upload_timeout);
  uploader_.reset();
  const std::vector<std::string> pending = Pending();
  if (is_done || pending.empty()) {
    return code;
  }
  scratch_.Keep();
  options_.say(fmt::format(
      "not everything could be uploaded in {} s: {} {} on this machine alone, "
      "in {}; the same command uploads it when it runs here again",
      options_.upload_timeout.count(), fmt::join(pending, ", "),
      pending.size() == 1 ? "is" : "are", scratch_.path()));
  const bool went_well =
      code == ExitCode::kDone || code == ExitCode::kStoppedBySignal;
  return went_well ? ExitCode::kRuntimeError : code;
}

void RemoteRun::Round(const std::stop_token& stop) {
  if (model_ != nullptr) {
    model_->Round(stop);
  }
  SendExports(outbox_, upload_runtime_, stop);
}

std::vector<std::string> RemoteRun::Pending() const {
  std::vector<std::string> names =
      model_ == nullptr ? std::vector<std::string>() : model_->Pending();
  for (const std::string& name : outbox_.Exports()) {
    names.push_back("the export " + name);
  }
  return names;
}

}  // namespace infeed
