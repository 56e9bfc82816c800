#include "tools/worker/worker_flags.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/environment.h"
#include "base/error.h"
#include "pipeline/memory/memory_limit.h"
#include "pipeline/remote/worker_service.h"
#include "records/bytes/whole_number.h"
#include "records/files/split_names.h"
#include "tools/cli/flags.h"
#include "tools/cli/help_text.h"
#include "tools/input/input_flags.h"

namespace infeed {
namespace {

constexpr const char* kAboutWorker =
    "Fills ranges of batches for trainers on other machines: reads, decodes, "
    "crops and resizes the records that they ask for. A trainer uses workers "
    "by --workers HOST:PORT,HOST:PORT, and its batches are the same with any "
    "number of them. A worker may be stopped at any time: SIGTERM ends it "
    "after the ranges in work.";

constexpr const char* kWorkerExamples =
    "Examples:\n"
    "  input_worker --data_dir SHARDS\n"
    "      for trainers on this machine, at port 9410\n"
    "  INFEED_WORKER_TOKEN=$(cat token) input_worker --data_dir SHARDS \\\n"
    "    --listen 0.0.0.0:9410 --threads 16 --memory_limit 8GiB\n"
    "      for all machines that have the same token (openssl rand -hex 32)\n"
    "  input_worker --data_dir SHARDS --listen 0.0.0.0:9410 \\\n"
    "    --tls_cert worker.pem --tls_key worker.key --tls_ca ca.pem\n"
    "  input_worker --data_dir SHARDS --dry_run\n"
    "\n"
    "The data must be the trainer's: the same shards under any path.\n"
    "\n"
    "Exit codes: 0 ended by a signal, 1 runtime error such as a port in use, "
    "2 usage, 3 bad data.\n";

void AddServedDataFlags(CLI::App& app, WorkerFlags& flags) {
  const FlagGroup group(app, "Data");
  app.add_option("--data_dir", flags.data_dir,
                 "The data set, as the trainer's --data_dir: a folder or URL "
                 "of shards, class folders with images, tars or a zip.")
      ->type_name("DATA");
  app.add_option("--split", flags.splits,
                 "Splits to serve: train, validation, test. [all there are]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("SPLIT,...");
  AddShardsFlags(app, flags.shards, flags.allow_missing_shards);
}

void AddServiceFlags(CLI::App& app, WorkerFlags& flags,
                     std::string& memory_limit) {
  const FlagGroup group(app, "Service");
  app.add_option("--listen", flags.listen,
                 "Address and port. Any but this machine's own addresses needs "
                 "INFEED_WORKER_TOKEN or TLS; port 0 is any free one.")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  app.add_option("--threads", flags.worker.threads,
                 "Threads that fill ranges; 0: one per core.")
      ->check(CLI::Range(0, WorkerService::kMostThreads).description(""))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--memory_limit", memory_limit,
                 "Memory of the worker, as 8GiB or 50%.")
      ->type_name("SIZE")
      ->capture_default_str();
  app.add_flag("--use_cache", flags.worker.use_cache,
               "Keep encoded records in memory, within --memory_limit.");
  app.add_option("--name", flags.worker.name,
                 "Name in the trainers' messages and tables. [the host's name]")
      ->type_name("NAME");
  app.add_flag("--dry_run", flags.dry_run,
               "Only check flags and data, and print what would be served.");
}

void CheckListenFlag(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  if (colon == 0 || colon == std::string::npos ||
      !ParsePlainNumber<std::uint16_t>(address.substr(colon + 1))) {
    throw UsageError(fmt::format(
        "--listen={}: must be HOST:PORT, such as 127.0.0.1:9410 or [::]:9410",
        address));
  }
}

void CheckWorkerFlags(const WorkerFlags& flags) {
  if (flags.data_dir.empty() == flags.shards.empty()) {
    throw UsageError("give one of --data_dir and --shards");
  }
  if (!flags.shards.empty() && !flags.splits.empty()) {
    throw UsageError("--split chooses from --data_dir; --shards has none");
  }
  std::set<std::string_view> splits;
  for (const std::string& split : flags.splits) {
    if (!splits.insert(RequireSplitName(split)).second) {
      throw UsageError("--split: " + split + " is given twice");
    }
  }
  CheckListenFlag(flags.listen);
}

}  // namespace

std::optional<WorkerFlags> ReadWorkerFlags(int argc, char** argv) {
  WorkerFlags flags;
  std::string memory_limit = "4GiB";
  CLI::App app(kAboutWorker);
  app.footer(kWorkerExamples);
  AddServedDataFlags(app, flags);
  AddServiceFlags(app, flags, memory_limit);
  {
    const FlagGroup group(app, "TLS, all three or none");
    AddWorkerTlsFlags(app, "", flags.tls);
  }
  AddCloudFlags(app, flags.cloud);
  if (!ParseFlags(app, argc, argv)) {
    return std::nullopt;
  }
  CheckWorkerFlags(flags);
  flags.worker.memory_limit = ParseMemoryLimit(memory_limit);
  if (flags.worker.threads == 0) {
    flags.worker.threads =
        static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  }
  if (flags.worker.name.empty()) {
    flags.worker.name = HostName();
  }
  return flags;
}

}  // namespace infeed
