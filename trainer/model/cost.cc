#include "trainer/model/cost.h"

#include <algorithm>

#include "base/rounding.h"
#include "trainer/model/layers.h"
#include "trainer/model/resnet_plan.h"

namespace infeed {
namespace {

// Activations and operations of the forward pass, for each image.
struct Work {
  std::int64_t activations = 0;
  std::int64_t widest = 0;  // input and output of one convolution
  std::int64_t multiplications = 0;
};

std::int64_t Pixels(const ImageSize& map) {
  return static_cast<std::int64_t>(map.pixels());
}

ImageSize Strided(const ImageSize& map, int stride) {
  return {CeilDiv(map.height, stride), CeilDiv(map.width, stride)};
}

// A convolution whose output has this size, with its norm or ReLU.
void Add(const ConvPlan& conv, const ImageSize& map, Work& work) {
  const std::int64_t outputs = conv.out * Pixels(map);
  const std::int64_t pixels_before = Pixels(map) * conv.stride * conv.stride;
  work.activations += 2 * outputs;
  work.widest = std::max(work.widest, 2 * outputs + conv.in * pixels_before);
  work.multiplications +=
      outputs * (conv.in / conv.groups) * conv.kernel * conv.kernel;
}

// A blur with stride 2: the padded map, the mean of its rows and columns, and
// the result. Changes the map's size.
void AddBlur(std::int64_t channels, ImageSize& map, Work& work) {
  work.activations += 2 * channels * Pixels(map);
  map = Strided(map, 2);
  work.activations += channels * Pixels(map);
}

// Consecutive convolutions. Changes the size from that of the first one's input
// to that of the last one's output.
void Add(const std::vector<ConvPlan>& convs, ImageSize& map, Work& work) {
  for (const ConvPlan& conv : convs) {
    map = Strided(map, conv.stride);
    Add(conv, map, work);
    if (conv.blur_stride > 1) {
      AddBlur(conv.out, map, work);
    }
  }
}

void Add(const BlockPlan& block, ImageSize& map, Work& work) {
  Add(block.convs, map, work);
  if (block.shortcut) {
    Add(*block.shortcut, map, work);
  }
  if (block.se_channels > 0) {
    for (const ConvPlan& conv : PlanSqueezeExcitation(block)) {
      work.multiplications += conv.in * conv.out;
    }
  }
  work.multiplications += block.convs.back().out * block.eca_taps;
}

Work ResNetWork(const ModelOptions& model, ImageSize map) {
  const ResNetPlan plan = PlanResNet(model);
  Work work = {.activations = model.channels * Pixels(map)};
  Add(plan.stem, map, work);
  if (plan.pool == StemPool::kMax || plan.pool == StemPool::kMaxSame) {
    map = Strided(map, 2);
    work.activations += plan.stem.back().out * Pixels(map);
  } else if (plan.pool == StemPool::kMaxBlur) {
    work.activations += plan.stem.back().out * Pixels(map);
    AddBlur(plan.stem.back().out, map, work);
  }
  for (const BlockPlan& block : plan.blocks) {
    Add(block, map, work);
  }
  work.activations += plan.features + plan.classes;
  work.multiplications += plan.features * plan.classes;
  return work;
}

// LeNet-5: two convolutions with ReLU and pool, and three linear layers.
Work LeNetWork(int classes) {
  return {.activations = 28 * 28 + 2 * 6 * 28 * 28 + 6 * 14 * 14 +
                         2 * 16 * 10 * 10 + 16 * 5 * 5 + 2 * 120 + 2 * 84 +
                         classes,
          .widest = 28 * 28 + 2 * 6 * 28 * 28,
          .multiplications = 6 * 28 * 28 * 5 * 5 + 16 * 10 * 10 * 6 * 5 * 5 +
                             16 * 5 * 5 * 120 + 120 * 84 + 84 * classes};
}

// Numbers that the optimizer keeps for each parameter.
int SlotsOf(const OptimizerOptions& optimizer) {
  const bool one = optimizer.kind == OptimizerKind::kMomentum ||
                   optimizer.kind == OptimizerKind::kLars;
  return (one ? 1 : 2) + (optimizer.moving_average_decay > 0 ? 1 : 0);
}

}  // namespace

ModelCost ComputeCost(const ModelOptions& model, const ImageSize& image_size) {
  ModelCost cost;
  for (const LayerPlan& layer : PlanLayers(model)) {
    for (const TensorPlan& tensor : TensorsOf(layer)) {
      (tensor.buffer ? cost.buffers : cost.parameters) += CountElements(tensor);
    }
  }
  const Work work = model.kind == ModelKind::kLeNet
                        ? LeNetWork(model.num_classes)
                        : ResNetWork(model, image_size);
  cost.activations = work.activations;
  cost.widest = work.widest;
  cost.multiplications = work.multiplications;
  return cost;
}

std::int64_t TrainingBytes(const ModelCost& cost,
                           const OptimizerOptions& optimizer, int batch_size,
                           bool in_16_bits) {
  const std::int64_t state =
      4 * (cost.parameters * (2 + SlotsOf(optimizer)) + cost.buffers);
  const std::int64_t part =
      batch_size / std::max(1, optimizer.accumulation_steps);
  return state + cost.activations * part * (in_16_bits ? 2 : 4);
}

std::int64_t ForwardBytes(const ModelCost& cost, int batch_size,
                          bool in_16_bits) {
  return 4 * (cost.parameters + cost.buffers) +
         cost.widest * batch_size * (in_16_bits ? 2 : 4);
}

double ForwardTraffic(const ModelCost& cost, int batch_size, bool in_16_bits) {
  return 2.0 * static_cast<double>(cost.activations) * batch_size *
             (in_16_bits ? 2 : 4) +
         4 * static_cast<double>(cost.parameters);
}

double StepBytes(const ModelCost& cost, const OptimizerOptions& optimizer,
                 int batch_size, bool in_16_bits) {
  constexpr double kTouchesOfActivation = 5;
  // Two reads of the weight; its gradient written and read; the update written.
  // The optimizer's state is read and written.
  const double touches_of_weight = 5 + 2 * SlotsOf(optimizer);
  return kTouchesOfActivation * static_cast<double>(cost.activations) *
             batch_size * (in_16_bits ? 2 : 4) +
         touches_of_weight * 4 * static_cast<double>(cost.parameters);
}

std::int64_t CheckpointBytes(const ModelCost& cost,
                             const OptimizerOptions& optimizer) {
  return 4 * (cost.parameters * (1 + SlotsOf(optimizer)) + cost.buffers);
}

}  // namespace infeed
