#include "trainer/model_cost.h"

#include <algorithm>

#include "trainer/layer_plan.h"
#include "trainer/model_layers.h"
#include "trainer/resnet_plan.h"

namespace infeed {
namespace {

// After a convolution with zeros of kernel / 2 around its input.
int Strided(int side, int stride) { return (side + stride - 1) / stride; }

// What a row of convolutions leaves; side goes from the first's input to the
// last's output.
std::int64_t ActivationsOf(const std::vector<ConvPlan>& convs, int& side) {
  std::int64_t sum = 0;
  for (const ConvPlan& conv : convs) {
    side = Strided(side, conv.stride);
    sum += 2 * conv.out * side * side;
  }
  return sum;
}

std::int64_t ActivationsOf(const BlockPlan& block, int& side) {
  const std::int64_t branch = ActivationsOf(block.convs, side);
  return branch + (block.shortcut ? 2 * block.shortcut->out * side * side : 0);
}

std::int64_t ResNetActivations(const ModelOptions& model, int side) {
  const ResNetPlan plan = PlanOf(model);
  std::int64_t sum = std::int64_t{3} * side * side;
  sum += ActivationsOf(plan.stem, side);
  if (plan.pool == StemPool::kMax || plan.pool == StemPool::kMaxSame) {
    side = Strided(side, 2);
    sum += plan.stem.back().out * side * side;
  }
  for (const BlockPlan& block : plan.blocks) {
    sum += ActivationsOf(block, side);
  }
  return sum + plan.features + plan.classes;
}

// Both convolutions with their ReLUs and pools, and the three layers.
std::int64_t LeNetActivations(int classes) {
  return 28 * 28 + 2 * 6 * 28 * 28 + 6 * 14 * 14 + 2 * 16 * 10 * 10 +
         16 * 5 * 5 + 2 * 120 + 2 * 84 + classes;
}

// Numbers that the optimizer keeps for each parameter.
int SlotsOf(const OptimizerOptions& optimizer) {
  const bool adam = optimizer.kind == OptimizerKind::kAdam ||
                    optimizer.kind == OptimizerKind::kAdamW;
  return (adam ? 2 : 1) + (optimizer.moving_average_decay > 0 ? 1 : 0);
}

}  // namespace

ModelCost CostOf(const ModelOptions& model, int image_size) {
  ModelCost cost;
  for (const LayerPlan& layer : LayersOf(model)) {
    for (const TensorPlan& tensor : TensorsOf(layer)) {
      (tensor.buffer ? cost.buffers : cost.parameters) += ElementsOf(tensor);
    }
  }
  cost.activations = model.kind == ModelKind::kLeNet
                         ? LeNetActivations(model.num_classes)
                         : ResNetActivations(model, image_size);
  return cost;
}

std::int64_t TrainingBytes(const ModelCost& cost,
                           const OptimizerOptions& optimizer, int batch_size,
                           bool in_bfloat16) {
  const std::int64_t state =
      4 * (cost.parameters * (2 + SlotsOf(optimizer)) + cost.buffers);
  const std::int64_t part =
      batch_size / std::max(1, optimizer.accumulation_steps);
  return state + cost.activations * part * (in_bfloat16 ? 2 : 4);
}

std::int64_t CheckpointBytes(const ModelCost& cost,
                             const OptimizerOptions& optimizer) {
  return 4 * (cost.parameters * (1 + SlotsOf(optimizer)) + cost.buffers);
}

}  // namespace infeed
