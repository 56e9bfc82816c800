#include <condition_variable>
#include <cstdio>
#include <mutex>

#include <fmt/format.h>

#include "base/error.h"
#include "trainer/checkpoint_follower.h"
#include "trainer/eval_log.h"
#include "trainer/evaluation.h"
#include "trainer/job.h"

namespace infeed {
namespace {

// Evaluates what is on the device. Returns false when it was asked to stop.
bool EvaluateAndTell(const Job& job, EvalLog& log, std::int64_t step,
                     const std::stop_token& stop) {
  const std::optional<EvalResult> result =
      Evaluate(job.device, job.data.eval_index(), EvalInput(job), stop);
  if (!result) {
    return false;
  }
  log.Write(step, *result);
  fmt::print("{}\n", EvalText(step, *result));
  std::fflush(stdout);
  return true;
}

ExitCode EvaluateOne(const Job& job, const std::stop_token& stop) {
  const std::optional<std::int64_t> step = LoadTrained(job, "evaluate");
  if (!step) {
    return ExitCode::kCheckpointUnusable;
  }
  EvalLog log(job.options.model_dir);
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
          .wait = [stop](FollowOptions::Clock::duration time) {
            std::mutex mutex;
            std::condition_variable_any nobody;
            std::unique_lock lock(mutex);
            nobody.wait_for(lock, stop, time, [] { return false; });
            return !stop.stop_requested();
          }};
}

// As the reference: each newest checkpoint once, until the training's last.
ExitCode Follow(const Job& job, const std::stop_token& stop) {
  EvalLog log(job.options.model_dir);
  CheckpointFollower follower(job.options.model_dir, FollowingUntil(job, stop));
  std::optional<std::int64_t> done;
  while (const std::optional<std::int64_t> step = follower.Next()) {
    const std::optional<Checkpoint> checkpoint = LoadUnlessGone(job, *step);
    if (!checkpoint) {
      continue;
    }
    job.device.Load(checkpoint->state);
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
  if (stop.stop_requested()) {
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
