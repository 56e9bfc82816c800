#pragma once

#include <cstdint>

#include "base/choices.h"
#include "trainer/model/lr_schedule.h"

namespace infeed {

enum class OptimizerKind { kMomentum, kLars, kAdam, kAdamW };
inline constexpr Choices<OptimizerKind, 4> kOptimizers = {
    {{"momentum", OptimizerKind::kMomentum},
     {"lars", OptimizerKind::kLars},
     {"adam", OptimizerKind::kAdam},
     {"adamw", OptimizerKind::kAdamW}}};

// Which parameters weight decay applies to.
enum class DecayScope {
  kReference,  // all but batch norm's
  kWeights,    // all but batch norm's and biases
  kAll,
};
inline constexpr Choices<DecayScope, 3> kDecayScopes = {
    {{"reference", DecayScope::kReference},
     {"weights", DecayScope::kWeights},
     {"all", DecayScope::kAll}}};

struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::kMomentum;
  LearningRateOptions learning_rate = {};
  double body_rate_factor = 1;  // factor of the learning rate of all layers but
                                // the classifier
  double momentum = 0.9;        // of kMomentum and kLars
  bool nesterov = true;         // of kMomentum; as the reference
  double adam_beta1 = 0.9;
  double adam_beta2 = 0.999;
  double adam_epsilon = 1.1920929e-7;
  // kMomentum and kAdam: weight_decay / 2 * the sum of squares of all trained
  // parameters in the scope is added to the loss. kLars and kAdamW: applied in
  // the update.
  double weight_decay = 1e-4;
  DecayScope decay_scope = DecayScope::kReference;
  double label_smoothing = 0;
  double moving_average_decay = 0;  // 0: no average of the weights is kept
  double clip_gradient_norm = 0;    // the longest gradient, as an L2 norm; 0:
                                    // no limit
  int accumulation_steps = 1;       // parts of a batch; 1: the whole at once
  double mixup_alpha = 0;           // 0: none
  double cutmix_alpha = 0;          // 0: none
  std::uint64_t seed = 0;           // of MixUp and CutMix
};

}  // namespace infeed
