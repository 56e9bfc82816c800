#include "trainer/replay/run_comparison.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "records/files/open_source.h"
#include "trainer/replay/recorded_input.h"

namespace infeed {
namespace {

RecordedRun ReadWithFingerprints(const std::string& model_dir) {
  RecordedRun run = ReadRun(model_dir);
  RequireRecords(run);
  if (run.fingerprints.empty()) {
    throw UsageError(fmt::format(
        "model_dir={}: its metrics.jsonl has no input_fingerprint: an earlier "
        "version trained it, or it has ended no loop",
        model_dir));
  }
  return run;
}

// The run's input; else adds to `why` why it cannot be made again.
std::optional<RecordedInput> OpenInputOf(const RecordedRun& run,
                                         const std::string& data_dir,
                                         std::string& why) {
  try {
    return std::make_optional<RecordedInput>(run, data_dir);
  } catch (const Error& error) {
    if (why != error.what()) {  // Both runs may have the same data.
      why += (why.empty() ? "" : "; ") + std::string(error.what());
    }
    return std::nullopt;
  }
}

// The names that an index has for shards of these numbers.
std::vector<std::string> ShardNames(const RecordIndex& index,
                                    const std::vector<std::size_t>& shards) {
  std::vector<std::string> names;
  for (const std::size_t shard : shards) {
    if (shard < index.shards().size()) {
      names.push_back(FileNameOf(index.shards()[shard]));
    }
  }
  return names;
}

// What a run was fed in the steps in which the fingerprints differ.
std::uint64_t FedIn(const FingerprintMatch& match, const RecordedRun& run) {
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  for (const HistoryFingerprint& fingerprint : run.fingerprints) {
    if (fingerprint.step == match.equal_steps) {
      before = fingerprint.value;
    } else if (fingerprint.step == match.differs_by) {
      after = fingerprint.value;
    }
  }
  return after - before;
}

// Why the samples are equal although the fingerprints were not. fed: the
// samples' fingerprint.
std::string EqualSamplesText(std::uint64_t fed, std::uint64_t fed_a,
                             std::uint64_t fed_b) {
  constexpr std::string_view kNow =
      "made again from the data as it is now, the samples of both runs are "
      "equal, ";
  return fmt::format(
      "{}{}", kNow,
      fed == fed_a ? "and are those of A: B had other data, or another version"
      : fed == fed_b
          ? "and are those of B: A had other data, or another version"
          : "but neither run's: the data has changed since, or the version");
}

void FindSample(const CompareOptions& options, const RecordedRun& a,
                const RecordedRun& b, RunComparison& comparison) {
  std::string& why = comparison.no_sample;
  const auto input_a = OpenInputOf(a, options.data_dir_a, why);
  const auto input_b = OpenInputOf(b, options.data_dir_b, why);
  const auto& any = input_a ? input_a : input_b;
  if (any) {
    comparison.shard_names =
        ShardNames(any->index(), comparison.differences.shards);
  }
  if (!input_a || !input_b) {
    return;
  }
  const FingerprintMatch& match = comparison.match;
  try {
    StepsMatch steps =
        FindSampleDifference(*input_a, *input_b, match.equal_steps + 1,
                             match.differs_by, options.on_step);
    comparison.sample = std::move(steps.difference);
    if (!comparison.sample) {
      why = EqualSamplesText(steps.fed, FedIn(match, a), FedIn(match, b));
    }
  } catch (const Error& error) {
    why = error.what();
  }
}

}  // namespace

RunComparison CompareRuns(const CompareOptions& options) {
  const RecordedRun a = ReadWithFingerprints(options.model_dir_a);
  const RecordedRun b = ReadWithFingerprints(options.model_dir_b);
  RunComparison comparison = {
      .model_dir_a = options.model_dir_a,
      .model_dir_b = options.model_dir_b,
      .steps_a = a.fingerprints.back().step,
      .steps_b = b.fingerprints.back().step,
      .match = MatchFingerprints(a.fingerprints, b.fingerprints)};
  const FingerprintMatch& match = comparison.match;
  comparison.differences = FindRunDifferences(
      a, b, match.is_equal() ? match.equal_steps : match.differs_by);
  if (!match.is_equal()) {
    FindSample(options, a, b, comparison);
  }
  return comparison;
}

}  // namespace infeed
