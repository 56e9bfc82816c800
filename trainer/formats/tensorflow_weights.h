#pragma once

#include <vector>

#include "trainer/formats/host_tensor.h"
#include "trainer/formats/tensor_bundle.h"
#include "trainer/model/layers.h"

namespace infeed {

// A TensorFlow checkpoint's tensors under our names and in our layout. The k-th
// convolution of `layers` is "conv2d_<k>" in the checkpoint, the k-th norm
// "batch_normalization_<k>", the k-th linear layer "dense_<k>", the first ones
// without a number: PlanLayers() lists them in that order. Convolution kernels
// [kh, kw, in, out] become [out, in, kh, kw], dense ones [in, out] become [out,
// in]. Tensors missing from the checkpoint are left out; variables of no layer
// (global_step, the optimizer's slots, moving averages) are not read.
//
// The reference's ImageNet models of 1,001 classes have "background" as their
// class 0. For a model of 1,000 classes its row is removed; the other rows then
// match our labels. Throws what TensorBundle::Read() throws.
[[nodiscard]] TensorMap ReadTensorflowWeights(
    const TensorBundle& bundle, const std::vector<LayerPlan>& layers);

}  // namespace infeed
