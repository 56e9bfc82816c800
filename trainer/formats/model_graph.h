#pragma once

#include "preprocess/pixels/image_size.h"
#include "preprocess/pixels/pixel_statistics.h"
#include "trainer/formats/host_tensor.h"
#include "trainer/formats/inference_graph.h"
#include "trainer/model/options.h"

namespace infeed {

// The input of a trained model: RGB values of 0 to 255, which the graph
// normalizes to (value - mean) / std in each channel.
struct GraphInput {
  ImageSize image_size = 224;
  PixelStatistics statistics = kImagenetStatistics;
};

// The network of the weights, from pixels to logits, in evaluation mode: batch
// norms use their moving statistics, nothing is dropped. A LeNet uses only the
// first channel. Throws DataError when the weights are those of another model,
// UsageError for impossible options.
[[nodiscard]] InferenceGraph BuildGraph(const ModelOptions& options,
                                        const TensorMap& weights,
                                        const GraphInput& input);

}  // namespace infeed
