#include "trainer/remote/run.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "records/cloud/cloud_runtime.h"
#include "records/files/open_source.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/named_weights.h"
#include "trainer/remote/checkpoints.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

// Each look lists the folder, and stores charge for that.
constexpr std::chrono::seconds kLookPeriod{2};

bool UsesStore(const RemoteRunOptions& run) {
  const RunFolders& folders = run.folders;
  return IsUrl(folders.model_dir) || IsUrl(folders.export_dir) ||
         IsUrl(folders.resume) ||
         std::ranges::any_of(run.weights, [](const std::string& given) {
           return IsUrl(given) || IsLookedUpAtUrl(given);
         });
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

// Whether the run is the one that writes to its model_dir.
bool TrainsThere(const RemoteRunOptions& run) {
  return run.trains && IsUrl(run.folders.model_dir) && !run.dry_run;
}

ScratchFolder ScratchOf(const RemoteRunOptions& run) {
  const std::string folder =
      run.scratch_base.empty() ? DefaultScratchBase() : run.scratch_base;
  return TrainsThere(run) ? ScratchFolder::OfUrl(folder, run.folders.model_dir)
                          : ScratchFolder::OfThisProcess(folder);
}

void Discard(const std::string& folder) {
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

// Requests fail early, since the uploader retries without limit. A signal does
// not interrupt them: the run's files are uploaded after a signal.
std::shared_ptr<const CloudRuntime> RuntimeOfUploads(
    const std::stop_token& stop) {
  CloudSettings settings = cloud_settings();
  settings.retry.stop = stop;
  settings.retry.attempts = 3;
  settings.retry.max_delay = std::chrono::seconds(2);
  settings.retry.max_retry_after = std::chrono::seconds(5);
  settings.retry.deadline = std::chrono::seconds(30);
  settings.connections = std::min(settings.connections, 4);
  return std::make_shared<const CloudRuntime>(std::move(settings));
}

}  // namespace

std::unique_ptr<RemoteRun> RemoteRun::Begin(const RemoteRunOptions& options) {
  if (!UsesStore(options)) {
    return nullptr;
  }
  RequireBucket("model_dir", options.folders.model_dir);
  RequireBucket("export_dir", options.folders.export_dir);
  // NOLINTNEXTLINE: the constructor is private.
  return std::unique_ptr<RemoteRun>(new RemoteRun(options));
}

RemoteRun::RemoteRun(const RemoteRunOptions& options)
    : options_(options),
      scratch_(ScratchOf(options)),
      runtime_(SharedCloudRuntime()),
      upload_runtime_(RuntimeOfUploads(uploads_.get_token())),
      outbox_(scratch_.outbox()) {
  {
    const std::stop_callback end_uploads(options_.stop,
                                         [this] { uploads_.request_stop(); });
    BeginFolders();
  }
  if (uploads_.stop_requested()) {  // Nothing can be uploaded any more.
    throw StoppedError();
  }
  if (!options_.dry_run) {
    uploader_.emplace([this](const std::stop_token& stop) { Round(stop); },
                      Uploader::Options{.say = options_.say});
  }
}

void RemoteRun::BeginFolders() {
  auto& [model_dir, export_dir, resume] = options_.folders;
  if (IsUrl(model_dir)) {
    BeginModel();
  }
  if (IsUrl(export_dir)) {
    export_url_ = std::exchange(export_dir, scratch_.path() + "/export");
    AddUrl(export_dir, export_url_);
    Discard(export_dir);  // of a killed run, not finished
  }
  if (IsUrl(resume) &&
      (!options_.trains || ListCheckpoints(model_dir).empty())) {
    resume = Fetched(resume, "resume");
  }
}

void RemoteRun::BeginModel() {
  std::string& model_dir = options_.folders.model_dir;
  model_url_ = std::exchange(model_dir, scratch_.model_dir());
  AddUrl(model_dir, model_url_);
  model_ = std::make_unique<RemoteModel>(
      RemoteModelOptions{.url = model_url_,
                         .model_dir = model_dir,
                         .record = scratch_.path() + "/sent.json",
                         .keep = options_.keep,
                         .trains = options_.trains,
                         .resume = options_.folders.resume,
                         .checkpoints = options_.checkpoints,
                         .reads_log = options_.reads_log,
                         .force = options_.force,
                         .say = options_.say},
      runtime_, upload_runtime_, outbox_);
  if (options_.trains && !options_.dry_run) {
    options_.say(
        fmt::format("model_dir {} is mirrored in {}", model_url_, model_dir));
  }
  model_->Begin();
}

void RemoteRun::UploadCheckpoint(std::int64_t step, const std::string& folder) {
  if (model_ != nullptr) {
    model_->Add(step, folder);
    uploader_->Wake();
  }
}

void RemoteRun::UploadLog() {
  if (model_ != nullptr) {
    uploader_->Wake();
  }
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
  } catch (const StoppedError&) {  // Stopped: the download is no longer needed.
  } catch (const IoError& error) {
    options_.say(std::string("cannot look for new checkpoints: ") +
                 error.what());
  }
}

std::string RemoteRun::Fetched(const std::string& given,
                               std::string_view parameter) {
  const std::string path =
      FindWeights(given, parameter,
                  [this](const std::string& url, const std::string& name) {
                    return ListWeights(url, name, runtime_);
                  });
  if (!IsUrl(path)) {
    return path;
  }
  std::string& here = fetched_[path];
  if (here.empty()) {
    const std::string folder =
        fmt::format("{}/fetched/{}", scratch_.path(), fetched_.size());
    Discard(folder);
    here = PullWeights(path, folder, runtime_);
    AddUrl(here, path);
    options_.say(
        fmt::format("downloaded {} to {}", PathForMessages(path), here));
  }
  return here;
}

std::string RemoteRun::Exported(const std::string& folder) {
  if (export_url_.empty()) {
    return folder;
  }
  std::string address = outbox_.AddExport(folder, export_url_, runtime_);
  uploader_->Wake();
  return address;
}

std::string RemoteRun::WithUrl(std::string text) const {
  const std::lock_guard lock(urls_mutex_);
  for (const auto& [here, url] : urls_) {
    for (std::size_t at = text.find(here); at != std::string::npos;
         at = text.find(here, at + url.size())) {
      text.replace(at, here.size(), url);
    }
  }
  return text;
}

ProgramEnd RemoteRun::Finish(ProgramEnd end, std::chrono::seconds at_most) {
  end.reason = WithUrl(std::move(end.reason));
  Discard(scratch_.path() + "/fetched");
  if (!uploader_) {
    return end;
  }
  // After the signal that ended the run, its checkpoint is still uploaded.
  const std::stop_token stop =
      options_.stop.stop_requested() ? std::stop_token() : options_.stop;
  const bool is_done = AwaitUploads(at_most, stop);
  uploads_.request_stop();
  uploader_.reset();
  const std::vector<std::string> pending = Pending();
  if (is_done || pending.empty()) {
    return end;
  }
  scratch_.Keep();
  const std::string left = fmt::format(
      "not everything could be uploaded {}: {} {} only on this machine, in {}; "
      "to upload it, run the same command here again",
      stop.stop_requested() ? std::string("before the signal")
                            : fmt::format("in {} s", at_most.count()),
      fmt::join(pending, ", "), pending.size() == 1 ? "is" : "are",
      scratch_.path());
  if (end.code == ExitCode::kDone || end.code == ExitCode::kStoppedBySignal) {
    return {ExitCode::kRuntimeError, left};
  }
  options_.say(left);
  return end;
}

bool RemoteRun::AwaitUploads(std::chrono::seconds at_most,
                             const std::stop_token& stop) {
  constexpr std::chrono::seconds kSilentWait{2};
  const std::chrono::seconds first = std::min(kSilentWait, at_most);
  if (uploader_->Finish(first, stop)) {
    return true;
  }
  const std::chrono::seconds rest = at_most - first;
  if (rest.count() > 0 && !stop.stop_requested()) {
    options_.say(fmt::format(
        "waiting up to {} s more for uploads; a signal ends the wait",
        rest.count()));
  }
  return uploader_->Finish(rest, stop);
}

void RemoteRun::Round(const std::stop_token& stop) {
  if (model_ != nullptr) {
    model_->Round(stop);
  }
  outbox_.SendExports(upload_runtime_, stop);
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
