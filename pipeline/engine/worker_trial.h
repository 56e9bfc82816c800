#pragma once

#include <string>
#include <vector>

#include "pipeline/options/options.h"
#include "pipeline/remote/rpc.h"
#include "pipeline/remote/worker_link.h"
#include "records/store/record_index.h"

// A trial of a stream's workers before a run, for those who plan it: can they
// be used, and do they pay?
namespace infeed {

// One worker in a trial.
struct WorkerTrial {
  std::string address = {};
  std::string name = {};  // its own; empty: not known
  // Why it cannot be used, in a sentence that names it; empty: it can.
  std::string problem = {};
  bool is_refusal = false;  // of the token, the data or the build
  int compared = 0;         // slots; those declined there or here are not
  int differing = 0;        // of these
  // CPU seconds per 1,000 slots, to fill them there, and of this process to
  // receive them: its calls, checks and copies into a batch.
  double fill_seconds = 0;
  double receive_seconds = 0;
  double latency_seconds = 0;  // median of a range
};

struct WorkersTrial {
  bool has_images = true;  // false: slots are records
  int listed = 0;          // addresses
  int slots = 0;           // that each worker was asked for
  int range = 0;           // slots of a request
  // CPU seconds per 1,000 slots of this process to fill them; 0: they were not
  // filled, as no worker could be opened.
  double fill_seconds = 0;
  std::vector<WorkerTrial> workers = {};  // sorted by address

  // What one worker did: "NAME: 64 images are the same; ...".
  [[nodiscard]] std::string Describe(const WorkerTrial& worker) const;
  // Whether workers pay: "receiving costs 0.076 CPU s per 1,000 images, filling
  // here 0.251: a core feeds 3.3 times as many"; "" if none can be used. Begins
  // with "64 of 1000 workers were tried", if not all were.
  [[nodiscard]] std::string Conclusion() const;
};

// Opens each worker of options.workers, 64 of more, and fills the first 64
// slots of the stream there, one range after the other, and here, and compares
// them. The times are of this process: nothing else is to work in it meanwhile.
// A range before them is not counted, as it finds caches cold; seek indexes
// that decoding would find are not there yet.
//
// Throws as InputPipeline's constructor, and IoError if the list has no address
// now or the slots cannot be read here; what is wrong with a worker is in its
// problem.
[[nodiscard]] WorkersTrial TryWorkers(RpcLibrary& library,
                                      const RecordIndex& index,
                                      const InputOptions& options,
                                      const LinkTimes& times = {});

// Throws the worker's problem, if it has one: UsageError for a refusal, else
// IoError.
void RequireUsable(const WorkerTrial& worker);

}  // namespace infeed
