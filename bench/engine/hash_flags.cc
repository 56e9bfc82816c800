#include "bench/engine/hash_flags.h"

#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/own_files.h"
#include "bench/common/stream_hash.h"
#include "pipeline/engine/input_pipeline.h"
#include "pipeline/order/batch_plan.h"
#include "pipeline/order/sample_order.h"
#include "pipeline/order/stream_state.h"
#include "tools/cli/help_text.h"
#include "tools/cli/number_checks.h"

namespace infeed {
namespace {

// The position in --restore's state; without it the stream's beginning.
StreamPosition ReadStart(const RecordIndex& index, const InputOptions& options,
                         const std::string& restore) {
  constexpr std::int64_t kMostBytes = 1 << 20;
  if (restore.empty()) {
    return {};
  }
  const std::string state = ReadFileOrPipe(restore, kMostBytes);
  try {
    return ResumePosition(state, index, options);
  } catch (const DataError& error) {
    throw error.At({.path = restore});
  }
}

// The hash of a number of batches, or of all if the stream ends before.
std::string HashBatches(InputPipeline& pipeline, std::int64_t batches) {
  StreamHash hash;
  for (std::int64_t i = 0; i < batches; ++i) {
    const BatchHandle batch = pipeline.Next();
    if (batch == nullptr) {
      break;
    }
    hash.Add(*batch);
  }
  return hash.Finish();
}

// Prints the bad records, which explain a hash that differs from that of
// undamaged data.
void NameBadRecords(const InputPipeline& pipeline) {
  const std::string first = pipeline.stats().first_bad_record;
  if (!first.empty()) {
    fmt::print(stderr,
               "the stream has bad records, the first: {}; --bad_record_report "
               "FILE lists them all\n",
               first);
  }
}

// The records of one batch, in the order of its slots.
std::string RecordsText(const PlannedBatch& batch) {
  return fmt::format("{}", fmt::join(batch.records, " "));
}

}  // namespace

void AddHashFlags(CLI::App& app, HashFlags& flags) {
  const FlagGroup group(app, "Contents", Shown::kInHelpAll);
  CLI::Option* const hash =
      app.add_option("--hash", flags.batches,
                     "Print the SHA-256 of the pixels and labels of the first "
                     "N batches, for each of --threads, instead of measuring.")
          ->check(PositiveNumber())
          ->type_name("N");
  app.add_option("--save_state", flags.save_state,
                 "File to write the stream's state to, after those N batches.")
      ->needs(hash)
      ->type_name("FILE");
  app.add_option("--restore", flags.restore,
                 "File with the state of a stream to resume, of the same data "
                 "and options.")
      ->needs(hash)
      ->type_name("FILE");
  app.add_option("--order", flags.order,
                 "Print the record numbers, from 0, of the first N batches, "
                 "only this rank's part, instead of measuring.")
      ->check(PositiveNumber())
      ->excludes(hash)
      ->type_name("N");
}

void PrintHashes(const RecordIndex& index, const InputOptions& options,
                 std::span<const int> threads, const HashFlags& flags) {
  const StreamPosition start = ReadStart(index, options, flags.restore);
  for (const int count : threads) {
    InputOptions input = options;
    input.threads = count;
    InputPipeline pipeline(index, input, start);
    fmt::print("{}\n", HashBatches(pipeline, flags.batches));
    if (count == threads.front()) {  // Bad records do not depend on the number.
      NameBadRecords(pipeline);
    }
    if (!flags.save_state.empty()) {  // The same for any number.
      WriteFileAtomically(flags.save_state, pipeline.State(), kNamedByUser);
    }
  }
}

void PrintOrder(const RecordIndex& index, const InputOptions& options,
                const HashFlags& flags) {
  const InputOptions input = CheckedInputOptions(options);
  const SampleOrder order(ShardSizes(index, input.max_records), input);
  CurrentEpoch epoch(order);
  BatchSequence sequence(order.places(), input, {});
  for (std::int64_t i = 0; i < flags.order; ++i) {
    const std::optional<BatchPlan> plan = sequence.Next();
    if (!plan) {
      break;
    }
    fmt::print("{}\n", RecordsText(WithRecords(*plan, epoch)));
  }
}

}  // namespace infeed
