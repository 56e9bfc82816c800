#pragma once

#include <cstdint>
#include <string>

#include "trainer/model_dir/model_labels.h"
#include "trainer/scores/eval_result.h"

namespace infeed {

// All of an evaluation as one JSON object, schema 1; docs/evaluation.md has the
// fields. Numbers that are not finite are null.
[[nodiscard]] std::string EvalFileText(std::int64_t step,
                                       const EvalResult& result,
                                       const ModelLabels& labels);

// Writes it to EvalPath(), and the folder where there is none; a second
// evaluation of the step takes the place of the first. Throws IoError.
void WriteEvalFile(const std::string& model_dir, std::int64_t step,
                   const EvalResult& result, const ModelLabels& labels);

}  // namespace infeed
