#include <cstdio>

#include <fmt/format.h>

#include "base/error.h"
#include "trainer/checkpoint/follower.h"
#include "trainer/job/job.h"
#include "trainer/log/eval_log.h"
#include "trainer/log/run_storage.h"
#include "trainer/run/evaluation.h"

namespace infeed {
namespace {

// Rank 0's alone.
std::optional<EvalLog> LogOf(const Job& job) {
  return job.ranks.place().is_first()
             ? std::optional<EvalLog>(job.options.model_dir)
             : std::nullopt;
}

// Evaluates what is on the device. Returns false when it was asked to stop.
bool EvaluateAndTell(const Job& job, std::optional<EvalLog>& log,
                     std::int64_t step, const std::stop_token& stop) {
  const std::optional<EvalResult> result = Evaluate(
      job.device, job.data.eval_index(), EvalInput(job), job.ranks, stop);
  if (!result) {
    return false;
  }
  if (log) {
    log->Write(step, *result);
  }
  fmt::print("{}\n", EvalText(step, *result, job.params.keep_best));
  std::fflush(stdout);
  return true;
}

ExitCode EvaluateOne(const Job& job, const std::stop_token& stop) {
  const std::optional<std::int64_t> step = LoadTrained(job, "evaluate");
  if (!step) {
    return ExitCode::kCheckpointUnusable;
  }
  std::optional<EvalLog> log = LogOf(job);
  return EvaluateAndTell(job, log, *step, stop) ? ExitCode::kDone
                                                : ExitCode::kStoppedBySignal;
}

// The training may have deleted a checkpoint that was there a moment ago, and
// a later one will come.
std::optional<Checkpoint> LoadUnlessGone(const Job& job, std::int64_t step) {
  try {
    return LoadCheckpoint(job.options.model_dir, step);
  } catch (const Error& error) {
    Say(fmt::format("the checkpoint at step {} is left out: {}", step,
                    error.what()));
    return std::nullopt;
  }
}

FollowOptions FollowingUntil(const Job& job, const std::stop_token& stop) {
  return {.timeout_seconds = *job.options.eval_timeout,
          .wait = [wait = WaitingUnlessStopped(stop),
                   storage = job.options.storage](
                      FollowOptions::Clock::duration time) {
            const bool goes_on = wait(time);
            if (storage != nullptr) {
              storage->Refresh();
            }
            return goes_on;
          }};
}

// Rank 0's: puts the next checkpoint that can be read on the device.
std::optional<std::int64_t> LoadNext(const Job& job,
                                     CheckpointFollower& follower) {
  while (const std::optional<std::int64_t> step = follower.Next()) {
    if (const std::optional<Checkpoint> checkpoint =
            LoadUnlessGone(job, *step)) {
      job.device.Load(checkpoint->state);
      return step;
    }
  }
  return std::nullopt;
}

// Rank 0's next checkpoint, on the devices of all ranks; nullopt: there is none
// in time, or it was asked to stop.
std::optional<std::int64_t> ShareNext(
    const Job& job, std::optional<CheckpointFollower>& follower) {
  constexpr const char* kNone = "none";
  std::string mine = kNone;
  if (follower) {
    const std::optional<std::int64_t> step = LoadNext(job, *follower);
    mine = step ? std::to_string(*step) : kNone;
  }
  const std::string told = job.ranks.Broadcast(mine);
  if (told == kNone) {
    return std::nullopt;
  }
  job.device.Broadcast();
  return std::stoll(told);
}

// As the reference: each newest checkpoint once, until the training's last.
ExitCode Follow(const Job& job, const std::stop_token& stop) {
  std::optional<EvalLog> log = LogOf(job);
  std::optional<CheckpointFollower> follower;
  if (job.ranks.place().is_first()) {
    follower.emplace(job.options.model_dir, FollowingUntil(job, stop));
  }
  std::optional<std::int64_t> done;
  while (const std::optional<std::int64_t> step = ShareNext(job, follower)) {
    if (!EvaluateAndTell(job, log, *step, stop)) {
      return ExitCode::kStoppedBySignal;
    }
    done = step;
    if (*step >= job.params.train_steps) {
      return ExitCode::kDone;
    }
    Say(fmt::format("waiting up to {:g} s for a checkpoint after step {}",
                    *job.options.eval_timeout, *step));
  }
  if (job.ranks.Any(stop.stop_requested())) {
    return ExitCode::kStoppedBySignal;
  }
  if (!done) {
    throw UsageError("model_dir=" + job.options.model_dir +
                     ": no checkpoint to evaluate came");
  }
  Say(fmt::format("no newer checkpoint than step {} for {:g} s", *done,
                  *job.options.eval_timeout));
  return ExitCode::kDone;
}

}  // namespace

ExitCode EvalMode(const Job& job, const std::stop_token& stop) {
  return job.options.eval_timeout ? Follow(job, stop) : EvaluateOne(job, stop);
}

}  // namespace infeed
