#include "tools/worker/input_worker.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/print_lines.h"
#include "pipeline/remote/worker_settings.h"
#include "records/files/side_file.h"
#include "tools/cli/cloud_flags.h"
#include "tools/worker/worker_data.h"
#include "tools/worker/worker_flags.h"
#include "tools/worker/worker_run.h"

namespace infeed {
namespace {

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
