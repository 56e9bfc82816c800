#include "pipeline/engine/remote_input.h"

#include <unistd.h>

#include <string>
#include <utility>

#include "base/environment.h"
#include "pipeline/reading/memory_plan.h"
#include "pipeline/remote/messages.h"
#include "pipeline/remote/worker_list.h"
#include "pipeline/remote/worker_settings.h"

namespace infeed {
namespace {

// Different for each stream at work, so that trainers choose different workers.
std::string TrainerName(const InputOptions& options) {
  return HostName() + " " + std::to_string(::getpid()) + " " +
         std::to_string(options.rank);
}

LinkOptions LinksOf(const RecordIndex& index, const InputOptions& options,
                    std::function<void(std::exception_ptr)> on_all_refused) {
  // Not below: GCC 12 destroys the members of .open twice if a later one
  // throws.
  RpcAccess access = WorkerAccess();
  return {.open = OpenRequestOf(index, options),
          .check_every = options.workers_check,
          .most_ranges = RangesInFlight(options),
          .slots_per_range = SlotsPerTask(options),
          .access = std::move(access),
          .trainer = TrainerName(options),
          .note = options.on_note,
          .on_all_refused = std::move(on_all_refused)};
}

}  // namespace

RemoteInput::RemoteInput(
    RpcLibrary& library, const RemoteInputParts& parts,
    const InputOptions& options,
    std::function<void(std::exception_ptr error)> on_all_refused)
    : check_(parts.store, parts.seek_store, options, SlotsPerTask(options)),
      links_(library, parts.lender, options, WorkerList(options.workers),
             &check_, parts.counters,
             LinksOf(parts.index, options, std::move(on_all_refused))) {}

}  // namespace infeed
