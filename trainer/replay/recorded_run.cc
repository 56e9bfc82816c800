#include "trainer/replay/recorded_run.h"

#include <algorithm>
#include <optional>
#include <type_traits>

#include <fmt/format.h>

#include "base/count_text.h"
#include "base/error.h"
#include "trainer/feed/run_input.h"
#include "trainer/params/parse.h"
#include "trainer/ranks/place.h"
#include "trainer/replay/shard_identities.h"
#include "trainer/results/model_dir.h"

namespace infeed {
namespace {

std::vector<Checkpoint> ReadStates(const std::string& model_dir) {
  std::vector<Checkpoint> states;
  for (const std::int64_t step : ListCheckpoints(model_dir)) {
    try {
      states.push_back(LoadRunState(model_dir, step));
    } catch (const DataError&) {  // Damaged: a resume would not use it, either.
    }
  }
  return states;
}

// Whether a batch of one start can begin elsewhere than in the other's stream.
bool HasOtherStream(const RecordedRun& run, const HistoryRun& a,
                    const HistoryRun& b) {
  const auto differ = [](const auto& of_a, const auto& of_b) {
    using Value = std::decay_t<decltype(of_a)>;
    return of_a != Value() && of_b != Value() && of_a != of_b;
  };
  const auto data = [](const HistoryRun& start) {
    return TrainIdentity(OriginValue(start.origin, "data_identity"));
  };
  const auto ranks = [](const HistoryRun& start) {
    return WorldSizeIn(OriginValue(start.origin, "ranks"));
  };
  return differ(a.batch_size, b.batch_size) || differ(data(a), data(b)) ||
         (run.params.values.input.rank_share != RankShare::kContiguous &&
          ranks(a) != ranks(b));
}

// Whether steps before those of this start were of another stream.
bool FollowsOtherStream(const RecordedRun& run, const HistoryRun& start) {
  std::int64_t first = start.first_step;
  for (auto before = run.starts.rbegin(); before != run.starts.rend();
       ++before) {
    if (before->first_step < first) {
      if (HasOtherStream(run, *before, start)) {
        return true;
      }
      first = before->first_step;
    }
  }
  return false;
}

}  // namespace

RecordedRun ReadRun(const std::string& model_dir) {
  RecordedRun run{.model_dir = model_dir};
  const std::string params = ParamsPath(model_dir);
  if (!HasParamFile(params)) {
    throw UsageError(
        fmt::format("model_dir={}: no run is recorded there: it has no "
                    "params.yaml",
                    model_dir));
  }
  run.params = ReadParams(
      {.model_file = params, .config_file = "", .overrides = {}, .flags = {}});
  RunHistory history(model_dir);
  history.Update();
  run.starts = history.runs();
  run.fingerprints = history.fingerprints();
  run.checkpoints = ReadStates(model_dir);
  if (!run.starts.empty()) {
    run.steps = run.starts.back().last_step;
  } else if (!run.checkpoints.empty()) {
    run.steps = run.checkpoints.back().step;
  }
  std::erase_if(run.checkpoints, [&](const Checkpoint& checkpoint) {
    return checkpoint.step > run.steps || history.HasLeft(checkpoint.step);
  });
  return run;
}

std::string RecordedDataDir(const RecordedRun& run) {
  return run.starts.empty() ? ""
                            : OriginValue(run.starts.back().origin, "data_dir");
}

void RequireRecords(const RecordedRun& run) {
  const std::string data_dir = RecordedDataDir(run);
  if (!data_dir.empty() && IsFakeData(data_dir)) {
    throw UsageError(fmt::format(
        "model_dir={}: the run was trained on fake data: there is no input to "
        "show or compare",
        run.model_dir));
  }
}

StepsOfStart FindStart(const RecordedRun& run, std::int64_t step) {
  if (step < 1 || step > run.steps) {
    throw UsageError(fmt::format("step={}: the run in {} has {}{}", step,
                                 run.model_dir, CountText(run.steps, "step"),
                                 run.steps > 0 ? ", numbered from 1" : ""));
  }
  StepsOfStart found = {.last_step = run.steps};
  for (const HistoryRun& start : run.starts) {
    if (start.first_step < step) {
      found = {.start = start, .last_step = run.steps};
    } else {
      found.last_step = std::min(found.last_step, start.first_step);
    }
  }
  found.world_size = WorldSizeIn(OriginValue(found.start.origin, "ranks"));
  return found;
}

KnownPlace FindKnownPlace(const RecordedRun& run, const StepsOfStart& steps) {
  std::optional<KnownPlace> known;
  for (const Checkpoint& checkpoint : run.checkpoints) {
    if (checkpoint.step >= steps.start.first_step &&
        checkpoint.step <= steps.last_step) {
      known = {.step = checkpoint.step, .stream = checkpoint.stream};
    }
  }
  if (!known && FollowsOtherStream(run, steps.start)) {
    throw UsageError(fmt::format(
        "steps {} to {} of the run in {} cannot be found in the data: earlier "
        "ones had another batch size, other data or ranks, and no checkpoint "
        "from {} to {} is left",
        steps.start.first_step + 1, steps.last_step, run.model_dir,
        steps.start.first_step, steps.last_step));
  }
  return known.value_or(KnownPlace{});
}

const Checkpoint* CheckpointFor(const RecordedRun& run, std::int64_t step) {
  const Checkpoint* found =
      run.checkpoints.empty() ? nullptr : &run.checkpoints.front();
  for (const Checkpoint& checkpoint : run.checkpoints) {
    found = checkpoint.step <= step ? &checkpoint : found;
  }
  return found;
}

}  // namespace infeed
