#pragma once

#include <functional>
#include <string>

#include "pipeline/memory/batch.h"
#include "pipeline/order/options.h"
#include "records/store/record_index.h"

namespace infeed {

struct AutotuneOptions {
  double seconds = 3;         // no new setting is tried after that
  double seconds_each = 0.3;  // measured per setting, after its first batch
  // A larger setting is taken only if it is faster by this fraction.
  double least_gain = 0.03;
  int max_threads = 0;  // 0: two per core
  // Lower bound of batches_in_pool: more than 2 if the consumer holds batches.
  int least_batches = 2;
};

struct AutotuneResult {
  InputOptions options;  // the given ones with the best settings
  double images_per_second = 0;
  int settings = 0;    // tried
  double seconds = 0;  // taken by the search
};

// Returns the images per second with these options. Throws UsageError when the
// options are impossible.
using MeasureRate = std::function<double(const InputOptions&)>;

// Finds threads, batches_in_pool and prefetch_batches by trying: starting from
// the given values, doubles and halves one after the other as long as that is
// faster. Skips settings that do not fit into memory_limit. The batches are the
// same with any setting. Throws UsageError when the given options are
// impossible.
[[nodiscard]] AutotuneResult Autotune(const InputOptions& options,
                                      const MeasureRate& measure,
                                      const AutotuneOptions& tuning = {});

// The same, measured on short streams of the data that begin at a position.
// They write no report and no trace, and use no cache. Throws what Next()
// throws.
[[nodiscard]] AutotuneResult Autotune(const RecordIndex& index,
                                      const InputOptions& options,
                                      const StreamPosition& start = {},
                                      const AutotuneOptions& tuning = {});

// "--threads 2 --batches_in_pool 4 --prefetch_batches 2: 4012 images/s, 7
// settings tried in 2.9 s": one line, without a newline.
[[nodiscard]] std::string AutotuneText(const AutotuneResult& result);

}  // namespace infeed
