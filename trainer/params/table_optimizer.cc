#include "trainer/params/ranges.h"

namespace infeed {
namespace {

using P = TrainParams;

const Param kTable[] = {
    {"optimizer", &P::optimizer, OneOf("momentum|lars|adam|adamw"), "",
     "Method that turns gradients into updates.", ""},
    {"enable_lars", &P::enable_lars, Any(), "",
     "Use LARS: the reference's name for optimizer=lars.", ""},
    {"base_learning_rate", &P::base_learning_rate, Positive(), "",
     "Peak of the learning rate for a batch of 256.", ""},
    {"body_learning_rate_factor", &P::body_learning_rate_factor, NotNegative(),
     "",
     "Factor of the learning rate of all layers but the classifier, in a "
     "training that starts from resnet_checkpoint.",
     ""},
    {"learning_rate_scaling", &P::learning_rate_scaling, OneOf("linear|none"),
     "", "Scaling of the learning rate: by train_batch_size / 256, or none.",
     ""},
    {"learning_rate_schedule", &P::learning_rate_schedule,
     OneOf("reference|steps|cosine|linear|constant"), "",
     "Course of the learning rate after its warm-up: a tenth at 30, 60 and 80 "
     "of 90 epochs, a tenth at each third of the run, a cosine or a line to 0, "
     "or constant.",
     ""},
    {"warmup_epochs", &P::warmup_epochs, Between(-1, 1e6), "epochs",
     "Epochs in which the learning rate rises from 0; -1: the schedule's own.",
     ""},
    {"poly_rate", &P::poly_rate, NotNegative(), "",
     "Peak of the learning rate with LARS; 0: the reference's for the batch.",
     ""},
    {"momentum", &P::momentum, BelowOne(), "",
     "Momentum of the optimizers momentum and lars.", ""},
    {"use_nesterov", &P::use_nesterov, Any(), "", "Use Nesterov's momentum.",
     ""},
    {"adam_beta1", &P::adam_beta1, BelowOne(), "",
     "Fraction of the mean gradient that Adam keeps per step.", ""},
    {"adam_beta2", &P::adam_beta2, BelowOne(), "",
     "Fraction of the mean squared gradient that Adam keeps per step.", ""},
    {"adam_epsilon", &P::adam_epsilon, NotNegative(), "",
     "Number that Adam adds to the root of the mean square.",
     "1.1920929e-07 of adam, 1e-08 of adamw"},
    {"weight_decay", &P::weight_decay, NotNegative(), "",
     "Factor of the L2 term of the loss.", ""},
    {"weight_decay_scope", &P::weight_decay_scope,
     OneOf("reference|weights|all"), "",
     "Parameters that decay: all but batch norm's (reference), all but batch "
     "norm's and biases (weights), or all.",
     ""},
    {"label_smoothing", &P::label_smoothing, BelowOne(), "",
     "Share of the target that all classes get alike.", ""},
    {"moving_average_decay", &P::moving_average_decay, BelowOne(), "",
     "Fraction of the moving average of the weights kept per step; evaluation "
     "uses the average; 0: none.",
     ""},
    {"export_moving_average", &P::export_moving_average, Any(), "",
     "Export the moving average instead of the weights.", ""},
    {"clip_gradient_norm", &P::clip_gradient_norm, NotNegative(), "",
     "Greatest norm of the gradient of all weights together; 0: no limit.", ""},
    {"gradient_accumulation_steps", &P::gradient_accumulation_steps,
     Between(1, 4096), "parts",
     "Parts in which a batch is computed, to save memory.", ""},
};

}  // namespace

std::span<const Param> OptimizerParams() { return kTable; }

}  // namespace infeed
