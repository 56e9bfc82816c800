#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trainer/params/params.h"
#include "trainer/params/run_options.h"
#include "trainer/ranks/ranks.h"

namespace infeed {

// The folder with the checkpoints, or the checkpoint, from which a training
// resumes: model_dir, or while that has none, the path of --resume; "": it does
// not resume.
[[nodiscard]] std::string ResumedFolder(const RunOptions& options);

// A parameter in the params.yaml of the run that a training resumes; nullopt:
// there is no such run, or it has no such value.
[[nodiscard]] std::optional<std::string> ParamSoFar(const RunOptions& options,
                                                    std::string_view name);

// A training that resumes a run that started from weights counts as one, too
// (body_learning_rate_factor): sets resnet_checkpoint as it was, unless it is
// given. Rank 0 reads for all ranks.
void KeepStartingWeights(const RunOptions& options, Ranks& ranks,
                         RunParams& resolved);

}  // namespace infeed
