#include "bench/engine/hashed_stream.h"

#include <optional>

#include "bench/common/stream_hash.h"
#include "pipeline/order/batch_plan.h"
#include "pipeline/order/sample_order.h"

namespace infeed {

HashedStream HashStream(const RecordIndex& index, const InputOptions& options,
                        const StreamPosition& start, std::int64_t batches,
                        std::uint64_t fingerprint) {
  InputPipeline pipeline(index, options, start, fingerprint);
  StreamHash hash;
  for (std::int64_t i = 0; i < batches; ++i) {
    const BatchHandle batch = pipeline.Next();
    if (batch == nullptr) {
      break;
    }
    hash.Add(*batch);
  }
  return {.hash = hash.Finish(),
          .first_bad_record = pipeline.stats().first_bad_record,
          .state = pipeline.State()};
}

std::vector<std::vector<std::int64_t>> RecordsOfBatches(
    const RecordIndex& index, const InputOptions& options,
    std::int64_t batches) {
  const InputOptions input = CheckedInputOptions(options);
  const SampleOrder order(ShardSizes(index, input.max_records), input);
  CurrentEpoch epoch(order);
  BatchSequence sequence(order.places(), input, {});
  std::vector<std::vector<std::int64_t>> records;
  for (std::int64_t i = 0; i < batches; ++i) {
    const std::optional<BatchPlan> plan = sequence.Next();
    if (!plan) {
      break;
    }
    records.push_back(WithRecords(*plan, epoch).records);
  }
  return records;
}

}  // namespace infeed
