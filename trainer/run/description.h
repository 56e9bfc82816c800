#pragma once

#include <cstdint>
#include <memory>

#include "trainer/log/profiler.h"
#include "trainer/log/run_log.h"
#include "trainer/results/eval_result.h"
#include "trainer/run/job.h"

// Describes a training run in its model directory.
namespace infeed {

// Writes params.yaml, with the run's origin as comments, and labels.txt;
// removes what killed runs left of such files. Throws IoError.
void WriteDescription(const Job& job);

// The profiles of a run that starts at first_step; none on ranks other than 0.
[[nodiscard]] ProfilerOptions ProfilerOf(const Job& job,
                                         std::int64_t first_step);

// The log of this rank. evaluations: their subject. The profiler must outlive
// it.
[[nodiscard]] std::unique_ptr<RunLog> MakeLog(const Job& job,
                                              std::int64_t first_step,
                                              const EvalSubject& evaluations,
                                              Profiler& profiler);

}  // namespace infeed
