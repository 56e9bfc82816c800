#include "trainer/param_ranges.h"

namespace infeed {
namespace {

using P = TrainParams;

const Param kTable[] = {
    {"optimizer", &P::optimizer, OneOf("momentum|lars|adam|adamw"), "",
     "Which one.", ""},
    {"enable_lars", &P::enable_lars, Any(), "",
     "The reference's name for optimizer=lars.", ""},
    {"base_learning_rate", &P::base_learning_rate, Positive(), "",
     "Peak of the learning rate for a batch of 256.", ""},
    {"learning_rate_scaling", &P::learning_rate_scaling, OneOf("linear|none"),
     "", "Whether the rate grows with train_batch_size / 256.", ""},
    {"learning_rate_schedule", &P::learning_rate_schedule,
     OneOf("reference|steps|cosine|linear|constant"), "",
     "How it falls: tenths at 30, 60 and 80 of 90 epochs, at 30 and 60, along "
     "a cosine, along a line, or not.",
     ""},
    {"warmup_epochs", &P::warmup_epochs, Between(-1, 1e6), "epochs",
     "In which it rises; -1: as the schedule has it.", ""},
    {"poly_rate", &P::poly_rate, NotNegative(), "",
     "Peak of the rate with LARS; 0: by the batch, as the reference.", ""},
    {"momentum", &P::momentum, BelowOne(), "", "Of the optimizer.", ""},
    {"use_nesterov", &P::use_nesterov, Any(), "",
     "Whether momentum is Nesterov's.", ""},
    {"adam_beta1", &P::adam_beta1, BelowOne(), "",
     "What Adam keeps of the mean gradient.", ""},
    {"adam_beta2", &P::adam_beta2, BelowOne(), "",
     "What it keeps of the mean square.", ""},
    {"adam_epsilon", &P::adam_epsilon, NotNegative(), "",
     "What it adds to the root of the mean square.",
     "1.1920929e-07 of adam, 1e-08 of adamw"},
    {"weight_decay", &P::weight_decay, NotNegative(), "",
     "Factor of the L2 term of the loss.", ""},
    {"weight_decay_scope", &P::weight_decay_scope,
     OneOf("reference|weights|all"), "",
     "What decays: all but batch norm's, all but those and biases, or all.",
     ""},
    {"label_smoothing", &P::label_smoothing, BelowOne(), "",
     "Share of the target that goes to all classes alike.", ""},
    {"moving_average_decay", &P::moving_average_decay, BelowOne(), "",
     "Of the average of the weights, with which it is evaluated; 0: none.", ""},
    {"export_moving_average", &P::export_moving_average, Any(), "",
     "Export that average instead of the weights.", ""},
    {"clip_gradient_norm", &P::clip_gradient_norm, NotNegative(), "",
     "Longest gradient of all weights together; 0: any.", ""},
    {"gradient_accumulation_steps", &P::gradient_accumulation_steps,
     Between(1, 4096), "parts",
     "In how many parts a batch is computed, to save memory.", ""},
};

}  // namespace

std::span<const Param> OptimizerParams() { return kTable; }

}  // namespace infeed
