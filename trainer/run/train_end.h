#pragma once

#include "trainer/job/job.h"
#include "trainer/job/training.h"
#include "trainer/log/run_log.h"

// How a training ends: each way says so, and returns the exit code.
namespace infeed {

// It was asked to stop: with a checkpoint of the step that it has reached.
[[nodiscard]] ExitCode StopEarly(Training& training, RunLog& log);

// Its loss is not finite.
[[nodiscard]] ExitCode Diverged(const Job& job, Training& training,
                                RunLog& log);

// Whether a run that would go on from this step has neither a step nor an
// evaluation left to do: the same on all ranks.
[[nodiscard]] bool HasNothingToDo(const Job& job, std::int64_t step);
[[nodiscard]] ExitCode NothingToDo(const Job& job, std::int64_t step);

// Exports what a training at this step has come to, where it has an
// export_dir: with keep_best the best checkpoint, else the weights on the
// device. Leaves the exported ones there.
void ExportAtEnd(const Job& job, std::int64_t step);

// Evaluations come with the training where there is something to evaluate on.
[[nodiscard]] bool Evaluates(const Job& job);

}  // namespace infeed
