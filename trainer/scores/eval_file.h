#pragma once

#include <cstdint>
#include <string>

#include "trainer/model_dir/model_labels.h"
#include "trainer/scores/eval_result.h"

namespace infeed {

// An evaluation's result as one JSON object, schema 1; docs/evaluation.md has
// the fields. Numbers that are not finite are null.
[[nodiscard]] std::string EvalFileText(std::int64_t step,
                                       const EvalResult& result,
                                       const ModelLabels& labels);

// Writes EvalFileText() to EvalPath(), creating the folder if needed; a second
// evaluation of a step replaces the first. Throws IoError.
void WriteEvalFile(const std::string& model_dir, std::int64_t step,
                   const EvalResult& result, const ModelLabels& labels);

}  // namespace infeed
