#pragma once

#include <vector>

#include "trainer/model/layer_plan.h"
#include "trainer/tensors/host_tensor.h"
#include "trainer/tensors/tensor_bundle.h"

namespace infeed {

// A TensorFlow checkpoint's tensors under our names and in our layout. The
// k-th convolution of `layers` is its "conv2d_<k>", the k-th norm its
// "batch_normalization_<k>", the k-th linear layer its "dense_<k>", the first
// ones without a number: LayersOf() lists them in that order. Convolution
// kernels [kh, kw, in, out] become [out, in, kh, kw], dense ones [in, out]
// become [out, in]. What the checkpoint does not have is left out; what stands
// in no layer (global_step, the optimizer's slots, moving averages) is not
// read.
//
// The reference's ImageNet models of 1,001 classes have "background" as their
// class 0. For a model of 1,000 it is cut off; the other rows are the classes
// that our labels mean. Throws what TensorBundle::Read() throws.
[[nodiscard]] TensorMap ReadTensorflowWeights(
    const TensorBundle& bundle, const std::vector<LayerPlan>& layers);

}  // namespace infeed
