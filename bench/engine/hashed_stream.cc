#include "bench/engine/hashed_stream.h"

#include <optional>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/own_files.h"
#include "bench/common/stream_hash.h"
#include "pipeline/order/batch_plan.h"
#include "pipeline/order/sample_order.h"
#include "pipeline/order/stream_state.h"
#include "tools/cli/help_text.h"
#include "tools/cli/number_checks.h"

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

namespace {

// The state in --restore; without it the stream's beginning.
StreamState ReadStart(const RecordIndex& index, const InputOptions& options,
                      const std::string& restore) {
  constexpr std::int64_t kMostBytes = 1 << 20;
  if (restore.empty()) {
    return {};
  }
  const std::string state = ReadFileOrPipe(restore, kMostBytes);
  try {
    return ResumeState(state, index, options);
  } catch (const DataError& error) {
    throw error.At({.path = restore});
  }
}

}  // namespace

void AddHashFlags(CLI::App& app, HashFlags& flags) {
  const FlagGroup group(app, "Contents", Shown::kInHelpAll);
  CLI::Option* const hash =
      app.add_option("--hash", flags.batches,
                     "Print the SHA-256 of the pixels, labels and fields of "
                     "the first N batches, for each of --threads, instead of "
                     "measuring.")
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
  const StreamState start = ReadStart(index, options, flags.restore);
  bool is_first = true;  // The rest is the same for any number of threads.
  for (const int count : threads) {
    InputOptions input = options;
    input.threads = count;
    const HashedStream stream = HashStream(index, input, start.position,
                                           flags.batches, start.fingerprint);
    fmt::print("{}\n", stream.hash);
    if (is_first && !stream.first_bad_record.empty()) {
      // They explain a hash that differs from that of undamaged data.
      fmt::print(stderr,
                 "the stream has bad records, the first: {}; "
                 "--bad_record_report FILE lists them all\n",
                 stream.first_bad_record);
    }
    if (is_first && !flags.save_state.empty()) {
      WriteFileAtomically(flags.save_state, stream.state, kNamedByUser);
    }
    is_first = false;
  }
}

void PrintOrder(const RecordIndex& index, const InputOptions& options,
                const HashFlags& flags) {
  for (const std::vector<std::int64_t>& records :
       RecordsOfBatches(index, options, flags.order)) {
    fmt::print("{}\n", fmt::join(records, " "));
  }
}

}  // namespace infeed
