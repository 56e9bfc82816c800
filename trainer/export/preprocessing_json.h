#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "preprocess/pixels/pixel_statistics.h"
#include "trainer/model_dir/model_labels.h"
#include "trainer/params/train_params.h"

// Describes an exported model to its users: how to preprocess images for it,
// and the meaning of its outputs.
namespace infeed {

// The statistics of the parameter normalization.
[[nodiscard]] const PixelStatistics& StatisticsOf(const TrainParams& params);

// The text of preprocessing.json: the recipe's preprocessing in evaluation,
// step by step; docs/models.md has its keys. labels: names of classes, or none.
// step: the updates done. averaged_steps: those of the checkpoints whose mean
// the model is, or none.
[[nodiscard]] std::string PreprocessingJson(
    const TrainParams& params, const ModelLabels& labels, std::int64_t step,
    const std::vector<std::int64_t>& averaged_steps = {});

}  // namespace infeed
