#include "tools/worker/input_worker.h"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/charts/progress.h"
#include "base/count_text.h"
#include "base/error.h"
#include "base/print_lines.h"
#include "base/seconds.h"
#include "pipeline/memory/kept_heap.h"
#include "pipeline/remote/messages.h"
#include "pipeline/remote/rpc.h"
#include "pipeline/remote/rpc_plugin.h"
#include "pipeline/remote/worker_service.h"
#include "pipeline/remote/worker_settings.h"
#include "records/cloud/cloud_settings.h"
#include "records/files/side_file.h"
#include "tools/cli/cloud_flags.h"
#include "tools/cli/signals.h"
#include "tools/worker/worker_data.h"
#include "tools/worker/worker_flags.h"

namespace infeed {
namespace {

using WorkerClock = std::chrono::steady_clock;

constexpr std::chrono::seconds kProgressInterval{1};

std::vector<std::shared_ptr<const RecordIndex>> IndexesOf(
    std::span<const ServedData> data) {
  std::vector<std::shared_ptr<const RecordIndex>> indexes;
  for (const ServedData& served : data) {
    indexes.push_back(served.index);
  }
  return indexes;
}

// Shows what a worker does, on a terminal only: its log has lines about events.
class WorkerProgress {
 public:
  explicit WorkerProgress(const WorkerService& service) : service_(service) {
    if (::isatty(STDERR_FILENO) != 0) {
      line_ = std::make_unique<ProgressLine>();
    }
  }
  ~WorkerProgress() {
    if (line_) {
      line_->Erase();
    }
  }
  WorkerProgress(const WorkerProgress&) = delete;
  WorkerProgress& operator=(const WorkerProgress&) = delete;

  void Show() {
    if (!line_) {
      return;
    }
    const WorkerServiceStats stats = service_.stats();
    const WorkerClock::time_point now = WorkerClock::now();
    const double rate =
        static_cast<double>(stats.slots - slots_) / ToSeconds(now - shown_);
    line_->Update(fmt::format("{:.1f} slots/s  {}  {} in work  {} refused",
                              rate, CountText(stats.streams, "stream"),
                              CountText(stats.in_work, "range"), stats.busy));
    slots_ = stats.slots;
    shown_ = now;
  }

 private:
  const WorkerService& service_;
  std::unique_ptr<ProgressLine> line_;
  std::int64_t slots_ = 0;
  WorkerClock::time_point shown_ = WorkerClock::now();
};

void AwaitStop(const std::stop_token& stop, const WorkerService& service) {
  WorkerProgress progress(service);
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  while (!stop.stop_requested()) {
    (void)wake.wait_for(lock, stop, kProgressInterval, [] { return false; });
    progress.Show();
  }
}

std::string WithPort(const std::string& address, int port) {
  return address.substr(0, address.rfind(':') + 1) + std::to_string(port);
}

// "serving train (3000 records) at 127.0.0.1:9410, 16 threads".
std::string ServiceText(const WorkerFlags& flags,
                        std::span<const ServedData> data,
                        const std::string& address) {
  return fmt::format(
      "{} {} at {}, {}", flags.dry_run ? "would serve" : "serving",
      ServedText(data), address, CountText(flags.worker.threads, "thread"));
}

// Serves the data, and prints where, until a signal asks for the end; ranges in
// work are finished, within 10 seconds. Throws what LoadedRpcLibrary() and
// RpcLibrary::Listen() throw.
void ServeRanges(const WorkerFlags& flags, std::span<const ServedData> data,
                 const RpcAccess& access) {
  KeepMessageMemory();
  const SignalStop signals(
      "input_worker: stopping after the ranges in work, 10 s at most; a second "
      "signal ends it now");
  RpcLibrary& library = LoadedRpcLibrary();
  std::stop_source reads;
  EndCloudRequestsAt(reads.get_token());
  WorkerService service(IndexesOf(data), flags.worker);
  std::unique_ptr<RpcServer> server =
      library.Listen(flags.listen, access, kMaxRequestBytes,
                     [&service](std::shared_ptr<RpcServerCall> call) {
                       service.Handle(std::move(call));
                     });
  PrintLine(ServiceText(flags, data, WithPort(flags.listen, server->port())));
  AwaitStop(signals.token(), service);
  server.reset();  // Waits for the ranges in work.
  reads.request_stop();
  const WorkerServiceStats stats = service.stats();
  PrintLine(fmt::format("filled {} in {}, declined {}",
                        CountText(stats.slots, "slot"),
                        CountText(stats.ranges, "range"), stats.declined));
}

// Splits of one folder have the same notes.
void PrintNotes(const std::vector<ServedData>& data) {
  std::set<std::string> printed;
  for (const ServedData& served : data) {
    for (const std::string& note : served.index->notes()) {
      if (printed.insert(note).second) {
        PrintLine(note);
      }
    }
  }
}

}  // namespace

ProgramEnd InputWorker(int argc, char** argv) {
  const std::optional<WorkerFlags> flags = ReadWorkerFlags(argc, argv);
  if (!flags) {
    return ExitCode::kDone;
  }
  ApplyCloudFlags(flags->cloud);
  SetWorkerTls(flags->tls);
  const RpcAccess access = WorkerAccess();
  CheckListenAddress(flags->listen, access);
  std::optional<WithoutSideFiles> nothing_is_written;
  if (flags->dry_run) {
    nothing_is_written.emplace();
  }
  const std::vector<ServedData> data = OpenServedData(*flags);
  PrintNotes(data);
  if (flags->dry_run) {
    fmt::print("{}\n", ServiceText(*flags, data, flags->listen));
  } else {
    ServeRanges(*flags, data, access);
  }
  return ExitCode::kDone;
}

}  // namespace infeed
