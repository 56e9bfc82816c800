#pragma once

#include <functional>
#include <string>

#include "pipeline/memory/batch.h"
#include "pipeline/order/options.h"
#include "records/store/record_index.h"

namespace infeed {

struct AutotuneOptions {
  double seconds = 3;         // after which no other setting is tried
  double seconds_each = 0.3;  // of a setting, after its first batch
  // By so much a setting has to be faster to be preferred to a smaller one.
  double least_gain = 0.03;
  int max_threads = 0;  // 0: two for each core
  // Of batches_in_pool: more than two where the consumer holds some.
  int least_batches = 2;
};

struct AutotuneResult {
  InputOptions options;  // as given, with what was found
  double images_per_second = 0;
  int settings = 0;    // tried
  double seconds = 0;  // that it took
};

// Images per second with some options. A UsageError says that they cannot be.
using MeasureRate = std::function<double(const InputOptions&)>;

// Finds threads, batches_in_pool and prefetch_batches by trying: from what is
// given on, one after the other is doubled and halved as long as that pays.
// What does not fit into memory_limit is passed over. Batches are the same for
// any of them. Throws UsageError where the options as given cannot be.
[[nodiscard]] AutotuneResult Autotune(const InputOptions& options,
                                      const MeasureRate& measure,
                                      const AutotuneOptions& tuning = {});

// The same with short streams of the data from a position on. They leave
// nothing behind: no report, no trace, no cache. Throws what Next() throws.
[[nodiscard]] AutotuneResult Autotune(const RecordIndex& index,
                                      const InputOptions& options,
                                      const StreamPosition& start = {},
                                      const AutotuneOptions& tuning = {});

// "--threads 2 --batches_in_pool 4 --prefetch_batches 2: 4012 images/s, 7
// settings tried in 2.9 s": in one line without its end.
[[nodiscard]] std::string AutotuneText(const AutotuneResult& result);

}  // namespace infeed
