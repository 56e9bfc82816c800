#pragma once

#include <cstdint>
#include <string>

#include "base/program_end.h"
#include "trainer/log/run_log.h"
#include "trainer/results/eval_result.h"
#include "trainer/run/job.h"
#include "trainer/run/training.h"

namespace infeed {

// After a stop request: saves a checkpoint of the step reached.
[[nodiscard]] ProgramEnd StopEarly(const Job& job, Training& training,
                                   RunLog& log);

// After a loss, or weights, that are not finite.
[[nodiscard]] ProgramEnd Diverged(const Job& job, Training& training,
                                  RunLog& log);

// A resumed run has neither a step nor an evaluation left. evaluations: the
// subject of the training's own, as below.
[[nodiscard]] ProgramEnd NothingToDo(const Job& job,
                                     const EvalSubject& evaluations,
                                     std::int64_t step, const std::string& why);

// If export_dir is set, exports the model of a training run that ended at this
// step: with keep_best the best checkpoint, else the weights on the device. The
// exported weights are on the device afterwards.
void ExportAtEnd(const Job& job, const EvalSubject& evaluations,
                 std::int64_t step);

// Prints on stderr a summary of a training run: its speed, its input, and which
// of the two was slower. Values are rank 0's, unless they cover all ranks; all
// ranks must call it.
void PrintSummary(const Job& job, const Training& training, const RunLog& log);

// Prints on stderr, on rank 0, the report's path and a command that uses the
// trained model.
void PrintNext(const Job& job);

}  // namespace infeed
