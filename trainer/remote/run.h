#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/error.h"
#include "trainer/job/run_options.h"
#include "trainer/log/run_storage.h"
#include "trainer/remote/model.h"
#include "trainer/remote/outbox.h"
#include "trainer/remote/scratch_folder.h"
#include "trainer/remote/uploader.h"

namespace infeed {

struct RemoteRunOptions {
  std::string scratch_base;  // "": DefaultScratchBase()
  // How long the end of a run waits for uploads.
  std::chrono::seconds upload_timeout{300};
  // Ends what is done before the run begins: StoppedError.
  std::stop_token stop;
  std::function<void(const std::string&)> say;
};

// A run some of whose folders are in an object store, for its rank 0: it works
// in a scratch folder, which is made as the store is before it begins, and
// taken there while it lives.
//
// Throws IoError, and UsageError for a URL that cannot be one of these, and
// when another process of this machine trains into the same model_dir.
class RemoteRun final : public RunStorage {
 public:
  // nullptr when nothing of the run is in a store. Else `run` has paths of this
  // disk afterwards, and this as its storage.
  [[nodiscard]] static std::unique_ptr<RemoteRun> Begin(
      RunOptions& run, const RemoteRunOptions& options);

  [[nodiscard]] std::unique_ptr<RunLog> Watched(
      std::unique_ptr<RunLog> log) override;
  void Refresh() override;
  [[nodiscard]] std::string Fetched(const std::string& path) override;
  [[nodiscard]] std::string Exported(const std::string& folder) override;

  // The message of an error, which names the model_dir here, with its URL.
  [[nodiscard]] std::string WithUrl(std::string text) const;

  // Waits until all is uploaded, or a first signal comes meanwhile. Returns the
  // run's code; kRuntimeError instead of success when something is still on
  // this disk alone, which is said.
  [[nodiscard]] ExitCode Finish(ExitCode code) {
    return Finish(code, options_.upload_timeout);
  }
  // The same, with another time than options' for the wait.
  [[nodiscard]] ExitCode Finish(ExitCode code, std::chrono::seconds at_most);

 private:
  using Clock = std::chrono::steady_clock;

  RemoteRun(RunOptions& run, const RemoteRunOptions& options);
  void BeginFolders(RunOptions& run);
  void BeginModel(RunOptions& run);
  // Whether all is uploaded in time; says that it waits.
  [[nodiscard]] bool AwaitUploads(std::chrono::seconds at_most,
                                  const std::stop_token& stop);
  void Round(const std::stop_token& stop);
  [[nodiscard]] std::vector<std::string> Pending() const;

  RemoteRunOptions options_;
  std::string model_url_;   // "": on this disk
  std::string export_url_;  // likewise
  ScratchFolder scratch_;
  std::shared_ptr<const CloudRuntime> runtime_;
  std::stop_source uploads_;  // ends what upload_runtime_ does
  std::shared_ptr<const CloudRuntime> upload_runtime_;
  Outbox outbox_;
  std::unique_ptr<RemoteModel> model_;
  Clock::time_point next_look_;       // for new checkpoints
  std::optional<Uploader> uploader_;  // last: it uses the others
};

}  // namespace infeed
