#pragma once

#include <cstdint>
#include <string>

#include "pipeline/order/options.h"
#include "records/store/record_index.h"

namespace infeed {

struct SoakOptions {
  int batch_size = 32;
  int image_size = 64;
  std::string bad_record_report;  // a file of its own, removed by each cycle
};

// What a soak has done so far.
struct SoakCounts {
  std::int64_t cycles = 0;
  std::int64_t images = 0;
  std::int64_t resumed = 0;  // streams that went on by their state
  std::int64_t bad_records = 0;
};

// One short life of a pipeline, drawn from the cycle's number: a policy, a
// shuffle, a recipe, threads or the basic graph, training or evaluation, with a
// limit of pixels that makes the larger images bad, or not. Some batches are
// taken, the state is saved, and the stream gone on with by a pipeline of other
// threads, which is then stopped from another thread. Throws DataError when it
// does not go on with the same batch.
void RunSoakCycle(const RecordIndex& index, const SoakOptions& options,
                  std::int64_t cycle, SoakCounts& counts);

}  // namespace infeed
