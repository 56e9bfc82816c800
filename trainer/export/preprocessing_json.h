#pragma once

#include <cstdint>
#include <string>

#include "trainer/model/pixel_statistics.h"
#include "trainer/model_dir/model_labels.h"
#include "trainer/params/train_params.h"

// What the user of an exported model must do to images before it, and what its
// answers mean.
namespace infeed {

// normalization's.
[[nodiscard]] const PixelStatistics& StatisticsOf(const TrainParams& params);

// preprocessing.json: the recipe's evaluation, step by step; docs/export.md has
// its keys. labels: names of classes, or none. step: the updates done.
[[nodiscard]] std::string PreprocessingJson(const TrainParams& params,
                                            const ModelLabels& labels,
                                            std::int64_t step);

}  // namespace infeed
