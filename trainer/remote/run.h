#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/program_end.h"
#include "trainer/checkpoint/save.h"
#include "trainer/remote/model.h"
#include "trainer/remote/outbox.h"
#include "trainer/remote/scratch_folder.h"
#include "trainer/remote/uploader.h"

namespace infeed {

// The folders of a run, as RunOptions has them.
struct RunFolders {
  std::string model_dir = {};
  std::string export_dir = {};
  std::string resume = "auto";
};

struct RemoteRunOptions {
  RunFolders folders = {};
  // What the run reads weights from: paths, URLs, names; may be "".
  std::vector<std::string> weights = {};
  bool trains = true;
  bool dry_run = false;  // writes nothing
  // As in RemoteModelOptions.
  KeepOptions keep = {};
  int checkpoints = 1;
  bool reads_log = false;
  bool force = false;

  std::string scratch_base = {};  // "": DefaultScratchBase()
  // How long the end of a run waits for uploads.
  std::chrono::seconds upload_timeout{300};
  // Interrupts the work before the run begins: StoppedError.
  std::stop_token stop = {};
  std::function<void(const std::string&)> say = {};
};

// A run with folders in an object store, for its rank 0: mirrors its local
// folders. The run works in a scratch folder, into which the store's files are
// downloaded before it begins; while it runs, new files are uploaded.
//
// One thread at a time. Throws IoError; UsageError for a URL that cannot be
// such a folder, and when another process on this machine trains into the same
// model_dir.
class RemoteRun {
 public:
  // nullptr when none of the run's folders and weights is in a store.
  [[nodiscard]] static std::unique_ptr<RemoteRun> Begin(
      const RemoteRunOptions& options);

  // The run's folders on this disk.
  [[nodiscard]] const RunFolders& folders() const { return options_.folders; }

  // Whether the model_dir is in the store: its mirror is created and locked
  // already.
  [[nodiscard]] bool HasModelDir() const { return model_ != nullptr; }

  // Starts the upload of a new checkpoint and of the log's files.
  void UploadCheckpoint(std::int64_t step, const std::string& folder);
  // Starts the upload of the log's files.
  void UploadLog();

  // For a run that follows another run's checkpoints: downloads the newest one,
  // if it is newer than the local ones, and starts the upload of new files. If
  // the store fails, the error is printed, and the next call tries again.
  void Refresh();

  // The local path of the weights at a path or URL or of this name
  // (named_weights.h), downloaded at the first call. Throws IoError, and
  // UsageError naming the parameter.
  [[nodiscard]] std::string Fetched(const std::string& given,
                                    std::string_view parameter);

  // The text with the local paths of files of the store replaced by their URLs.
  // Thread-safe.
  [[nodiscard]] std::string WithUrl(std::string text) const;

  // Starts the upload of a finished export; returns the name to print for it.
  [[nodiscard]] std::string Exported(const std::string& folder);

  // Waits until everything is uploaded, or until a first signal arrives.
  // Returns the run's end with paths as URLs. If files are still only on this
  // disk, returns kRuntimeError in place of success, and for any other end
  // prints which files.
  [[nodiscard]] ProgramEnd Finish(ProgramEnd end) {
    return Finish(std::move(end), options_.upload_timeout);
  }
  // As above, waiting for at most this time.
  [[nodiscard]] ProgramEnd Finish(ProgramEnd end, std::chrono::seconds at_most);

 private:
  using Clock = std::chrono::steady_clock;

  explicit RemoteRun(const RemoteRunOptions& options);
  void BeginFolders();
  void BeginModel();
  // Whether everything is uploaded in time; prints that it waits.
  [[nodiscard]] bool AwaitUploads(std::chrono::seconds at_most,
                                  const std::stop_token& stop);
  void Round(const std::stop_token& stop);
  [[nodiscard]] std::vector<std::string> Pending() const;

  // Records the URL of a local copy.
  void AddUrl(const std::string& here, const std::string& url) {
    const std::lock_guard lock(urls_mutex_);
    urls_.emplace_back(here, url);
  }

  RemoteRunOptions options_;  // folders: local paths
  mutable std::mutex urls_mutex_;
  std::vector<std::pair<std::string, std::string>> urls_;
  std::string model_url_;   // "": on this disk
  std::string export_url_;  // likewise
  ScratchFolder scratch_;
  std::map<std::string, std::string> fetched_;  // local paths by URL
  std::shared_ptr<const CloudRuntime> runtime_;
  std::stop_source uploads_;  // interrupts the requests of upload_runtime_
  std::shared_ptr<const CloudRuntime> upload_runtime_;
  Outbox outbox_;
  std::unique_ptr<RemoteModel> model_;
  Clock::time_point next_look_;       // for new checkpoints
  std::optional<Uploader> uploader_;  // last: it uses the others
};

}  // namespace infeed
