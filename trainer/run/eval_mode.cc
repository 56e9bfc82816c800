#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "base/error.h"
#include "preprocess/pixels/image_size.h"
#include "trainer/checkpoint/follower.h"
#include "trainer/job/job.h"
#include "trainer/job/station_options.h"
#include "trainer/log/eval_log.h"
#include "trainer/log/run_storage.h"
#include "trainer/run/evaluation.h"

namespace infeed {
namespace {

// On rank 0 only.
std::optional<EvalLog> LogOf(const Job& job) {
  return job.ranks.place().is_first()
             ? std::optional<EvalLog>(job.options.model_dir)
             : std::nullopt;
}

// Evaluates the model on the device at one image size. Returns false after a
// stop request.
bool EvaluateAtSize(const Job& job, std::optional<EvalLog>& log,
                    std::int64_t step, const ImageSize& image_size,
                    const std::stop_token& stop) {
  InputOptions input = EvalInput(job);
  input.image_size = image_size;
  std::optional<EvalResult> result =
      Evaluate(job.device, job.data.eval_index(), input, job.ranks, stop,
               job.params.eval_live_weights);
  if (!result) {
    return false;
  }
  if (!job.params.eval_image_sizes.empty()) {
    result->image_size = image_size;
  }
  if (log) {
    log->Write(step, *result);
  }
  fmt::print("{}\n", EvalText(step, *result, job.params.keep_best));
  std::fflush(stdout);
  return true;
}

// Evaluates the model on the device. Returns false after a stop request.
bool EvaluateAndPrint(const Job& job, std::optional<EvalLog>& log,
                      std::int64_t step, const std::stop_token& stop) {
  return std::ranges::all_of(
      EvalImageSizes(job.params), [&](const ImageSize& image_size) {
        return EvaluateAtSize(job, log, step, image_size, stop);
      });
}

ProgramEnd EvaluateOne(const Job& job, const std::stop_token& stop) {
  const std::optional<std::int64_t> step = LoadTrained(job, "evaluate");
  if (!step) {
    return Unusable(job.options.model_dir);
  }
  std::optional<EvalLog> log = LogOf(job);
  return EvaluateAndPrint(job, log, *step, stop) ? ExitCode::kDone : Stopped();
}

// nullopt if the training run has just deleted the checkpoint; a later one will
// follow.
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

// On rank 0: loads the next readable checkpoint onto the device.
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

// Loads rank 0's next checkpoint onto the devices of all ranks; nullopt: no
// checkpoint appeared in time, or a stop was requested.
std::optional<std::int64_t> ShareNext(
    const Job& job, std::optional<CheckpointFollower>& follower) {
  constexpr const char* kNone = "none";
  std::string mine = kNone;
  if (follower) {
    const std::optional<std::int64_t> step = LoadNext(job, *follower);
    mine = step ? std::to_string(*step) : kNone;
  }
  const std::string text = job.ranks.Broadcast(mine);
  if (text == kNone) {
    return std::nullopt;
  }
  job.device.Broadcast();
  return std::stoll(text);
}

// As in the reference: evaluates the newest checkpoint, once each, until that
// of the training's last step.
ProgramEnd Follow(const Job& job, const std::stop_token& stop) {
  std::optional<EvalLog> log = LogOf(job);
  std::optional<CheckpointFollower> follower;
  if (job.ranks.place().is_first()) {
    follower.emplace(job.options.model_dir, FollowingUntil(job, stop));
  }
  std::optional<std::int64_t> done;
  while (const std::optional<std::int64_t> step = ShareNext(job, follower)) {
    if (!EvaluateAndPrint(job, log, *step, stop)) {
      return Stopped();
    }
    done = step;
    if (*step >= job.params.train_steps) {
      return ExitCode::kDone;
    }
    Say(fmt::format("waiting up to {:g} s for a checkpoint after step {}",
                    *job.options.eval_timeout, *step));
  }
  if (job.ranks.Any(stop.stop_requested())) {
    return Stopped();
  }
  if (!done) {
    throw UsageError("model_dir=" + job.options.model_dir +
                     ": no checkpoint to evaluate appeared");
  }
  Say(fmt::format("no newer checkpoint than step {} for {:g} s", *done,
                  *job.options.eval_timeout));
  return ExitCode::kDone;
}

}  // namespace

ProgramEnd EvalMode(const Job& job, const std::stop_token& stop) {
  return job.options.eval_timeout ? Follow(job, stop) : EvaluateOne(job, stop);
}

}  // namespace infeed
