#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/choices.h"
#include "trainer/model/lr_schedule.h"

namespace infeed {

enum class OptimizerKind {
  kMomentum,
  kLars,
  kAdam,
  kAdamW,
  kNAdamW,
  kLamb,
  kRmsProp
};
inline constexpr Choices<OptimizerKind, 7> kOptimizers = {
    {{"momentum", OptimizerKind::kMomentum},
     {"lars", OptimizerKind::kLars},
     {"adam", OptimizerKind::kAdam},
     {"adamw", OptimizerKind::kAdamW},
     {"nadamw", OptimizerKind::kNAdamW},
     {"lamb", OptimizerKind::kLamb},
     {"rmsprop", OptimizerKind::kRmsProp}}};

enum class LossKind {
  kSoftmax,  // cross-entropy of the softmax
  kBce,      // binary cross-entropy of each class's sigmoid, their mean
};
inline constexpr Choices<LossKind, 2> kLosses = {
    {{"softmax", LossKind::kSoftmax}, {"bce", LossKind::kBce}}};

// A training step's loss of logits and target.
struct LossOptions {
  LossKind kind = LossKind::kSoftmax;
  double label_smoothing = 0;
  // kBce: classes whose target is larger have the target 1, others 0; 0: the
  // targets stay as they are.
  double target_threshold = 0;
  // Factors of the classes' terms; empty: all are 1.
  std::vector<double> class_weights = {};
};

// The part of a training step's loss that comes from a teacher, where there is
// one: loss * (1 - weight) + distillation * weight.
struct DistillOptions {
  double weight = 0.5;
  // Divides both networks' logits in the divergence from the teacher's
  // distribution; 0: the cross-entropy with the class that it predicts.
  double temperature = 1;
};

// The parameters that weight decay applies to.
enum class DecayScope {
  kReference,  // all but batch norm's
  kWeights,    // all but batch norm's and biases
  kAll,
};
inline constexpr Choices<DecayScope, 3> kDecayScopes = {
    {{"reference", DecayScope::kReference},
     {"weights", DecayScope::kWeights},
     {"all", DecayScope::kAll}}};

// How the moving average of the weights starts.
enum class AverageWarmup {
  kRising,  // a lower decay for the first updates, as TensorFlow
  kFollow,  // equals the weights during the rate's warm-up, as torchvision's
  kNone,    // the full decay from the first weights on, as timm
};
inline constexpr Choices<AverageWarmup, 3> kAverageWarmups = {
    {{"rising", AverageWarmup::kRising},
     {"follow", AverageWarmup::kFollow},
     {"none", AverageWarmup::kNone}}};

// The scale of a training's loss. The loss is multiplied by it before the
// backward pass, so that small gradients are not rounded to 0 in float16, and
// the gradients are divided by it before the update. A step with a gradient
// that is not finite is skipped: it updates no weight and no optimizer's state.
struct LossScaleOptions {
  double scale = 65536;  // at the start
  // After a skipped step the scale is halved, and after growth_interval steps
  // in a row without one it is doubled; else it stays. As torch.amp.GradScaler.
  bool dynamic = true;
  int growth_interval = 2000;
};

struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::kMomentum;
  LearningRateOptions learning_rate = {};
  // Factors of the learning rate: for all layers but the classifier; and from
  // each layer to the layer before it, starting with 1 at the classifier. The
  // stem is a layer, and so are up to layer_decay_blocks blocks in a row
  // (LayersFromEnd()).
  double body_rate_factor = 1;
  double layer_decay = 1;
  int layer_decay_blocks = 1;
  double momentum = 0.9;  // of kMomentum, kLars and kRmsProp
  bool nesterov = true;   // of kMomentum; as the reference
  // kMomentum, kAdam and kRmsProp: weight_decay / 2 * the sum of squares of all
  // trained parameters in the scope is added to the loss. Others: applied in
  // the update.
  double weight_decay = 1e-4;
  DecayScope decay_scope = DecayScope::kReference;
  double norm_weight_decay = -1;  // of batch norms; negative: by the scope
  LossOptions loss = {};
  DistillOptions distill = {};
  double moving_average_decay = 0;  // 0: no average of the weights is kept
  int moving_average_every = 1;     // steps between updates of the average
  AverageWarmup moving_average_warmup = AverageWarmup::kRising;
  double clip_gradient_norm = 0;  // the longest L2 norm; 0: no limit
  std::optional<LossScaleOptions> loss_scale = {};  // nullopt: not scaled
  int accumulation_steps = 1;  // parts of a batch; 1: the whole at once
  double mixup_alpha = 0;      // 0: none
  double cutmix_alpha = 0;     // 0: none
  std::uint64_t seed = 0;      // of MixUp and CutMix
};

}  // namespace infeed
