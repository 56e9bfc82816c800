#include <cerrno>
#include <cstdio>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "trainer/checkpoint/follower.h"
#include "trainer/log/eval_log.h"
#include "trainer/loop/evaluation.h"
#include "trainer/params/validation.h"
#include "trainer/remote/run.h"
#include "trainer/run/data_classes.h"
#include "trainer/run/job.h"
#include "trainer/run/modes.h"

namespace infeed {
namespace {

InputOptions InputOfMode(const Job& job) {
  InputOptions input = EvalInput(job);
  TakeGivenPolicy(job.resolved, input);
  if (input.on_bad_record == OnBadRecord::kReplace) {
    throw UsageError(
        "on_bad_record=replace: an evaluation counts each image once, so "
        "nothing can replace a bad one; give skip or fail");
  }
  return input;
}

// Whether this process can keep results in model_dir; prints a line if the
// folder is read-only.
bool KeepsResults(const Job& job) {
  if (!job.ranks.place().is_first()) {
    return false;
  }
  try {
    RequireWritableModelDir(job.options.model_dir);
  } catch (const IoError& error) {
    if (error.errno_value() != EROFS && error.errno_value() != EACCES) {
      throw;
    }
    Say(fmt::format(
        "model_dir={}: it is read-only; results are printed, but not kept",
        job.options.model_dir));
    return false;
  }
  return true;
}

struct Evaluator {
  Evaluator(const Job& of, const ModelLabels& labels, ClassMap map,
            bool keeps_results)
      : job(of), input(InputOfMode(of)), classes(std::move(map)) {
    if (keeps_results) {
      log.emplace(job.options.model_dir, labels);
    }
  }

  const Job& job;
  InputOptions input;
  ClassMap classes;
  std::optional<EvalLog> log;  // on rank 0, unless model_dir is read-only
};

// Evaluates the model on the device. Returns false after a stop request.
bool EvaluateAndPrint(Evaluator& evaluator, const RunStart& from,
                      const std::stop_token& stop) {
  const Job& job = evaluator.job;
  const EvalSubject subject = MakeSubject(
      MakeValidation(job.params, job.data, job.options.device), from.validation,
      {.weights = from.weights, .network = from.network});
  if (!subject.is_own()) {
    Say(fmt::format("not an evaluation of the training itself, kept as {}: {}",
                    subject.name(), subject.differences));
  }
  SayChangedShards(job, job.data.eval());
  const std::optional<EvalResult> result = Evaluate(
      job.device, job.data.eval_index(), evaluator.input, evaluator.classes,
      job.ranks, stop, job.params.eval_live_weights);
  if (!result) {
    return false;
  }
  if (evaluator.log) {
    evaluator.log->Write(from.step, subject, *result);
  }
  fmt::print("{}\n",
             EvalText(from.step, subject, *result, job.params.keep_best));
  std::fflush(stdout);
  return true;
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
std::optional<RunStart> LoadNext(const Job& job, CheckpointFollower& follower) {
  while (const std::optional<std::int64_t> step = follower.Next()) {
    if (std::optional<Checkpoint> checkpoint = LoadUnlessGone(job, *step)) {
      std::string network = RequireOwnCheckpoint(job, *checkpoint);
      job.device.LoadForUse(std::move(checkpoint->state));
      return RunStart{.step = *step,
                      .validation = checkpoint->validation,
                      .network = std::move(network)};
    }
  }
  return std::nullopt;
}

// Loads rank 0's next checkpoint onto the devices of all ranks; nullopt: no
// checkpoint appeared in time, or a stop was requested.
std::optional<RunStart> ShareNext(const Job& job,
                                  std::optional<CheckpointFollower>& follower) {
  constexpr const char* kNone = "none";
  std::optional<RunStart> mine;
  if (follower) {
    mine = LoadNext(job, *follower);
  }
  const std::string text =
      job.ranks.Broadcast(mine ? std::to_string(mine->step) : kNone);
  if (text == kNone) {
    return std::nullopt;
  }
  job.device.Broadcast();
  return mine ? mine : RunStart{.step = std::stoll(text)};
}

// Evaluates each newest checkpoint once, until the one of the training's last
// step, as the reference does.
ProgramEnd Follow(const Job& job, bool keeps_results,
                  const std::stop_token& stop) {
  std::optional<Evaluator> evaluator;
  std::optional<CheckpointFollower> follower;
  if (job.ranks.place().is_first()) {
    follower.emplace(job.options.model_dir, FollowingUntil(job, stop));
  }
  std::optional<std::int64_t> done;
  while (const std::optional<RunStart> from = ShareNext(job, follower)) {
    if (!evaluator) {
      const ModelLabels labels = ModelLabels::OfModel(job.options.model_dir);
      evaluator.emplace(
          job, labels,
          MatchToModel(job, job.data.eval_index(), labels, from->validation),
          keeps_results);
    }
    if (!EvaluateAndPrint(*evaluator, *from, stop)) {
      return Stopped();
    }
    done = from->step;
    if (*done >= job.params.train_steps) {
      return ExitCode::kDone;
    }
    Say(fmt::format("waiting up to {:g} s for a checkpoint after step {}",
                    *job.options.eval_timeout, *done));
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

Work PrepareEvaluation(const Job& job, Preparation& preparation) {
  preparation.Do([&] { (void)InputOfMode(job); });
  bool keeps = false;
  preparation.Do([&] { keeps = KeepsResults(job); });
  if (job.options.eval_timeout) {
    return [&job, keeps](const std::stop_token& stop) {
      return Follow(job, keeps, stop);
    };
  }
  RunStart from;
  ClassMap classes;
  preparation.Do([&] {
    from = LoadTrained(job, "evaluate");
    classes =
        MatchToModel(job, job.data.eval_index(), from.labels, from.validation);
  });
  return
      [&job, from, classes, keeps](const std::stop_token& stop) -> ProgramEnd {
        Evaluator evaluator(job, from.labels, classes, keeps);
        return EvaluateAndPrint(evaluator, from, stop) ? ExitCode::kDone
                                                       : Stopped();
      };
}

}  // namespace infeed
