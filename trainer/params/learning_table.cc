#include "trainer/model/named_networks.h"
#include "trainer/params/table_rows.h"

namespace infeed {
namespace {

using P = TrainParams;
using O = OptimizerOptions;
using R = LearningRateOptions;
using L = LossOptions;
using D = DistillOptions;

const Param kOptimizerParams[] = {
    Row("optimizer", ChoiceField<kOptimizers, &P::optimizer, &O::kind>(), Any(),
        "", "Method that turns gradients into updates."),
    Row("enable_lars", Field<&P::enable_lars>(), Any(), "",
        "Use LARS: the reference's name for optimizer=lars."),
    Common(
        Row("base_learning_rate",
            Field<&P::optimizer, &O::learning_rate, &R::base_learning_rate>(),
            Positive(), "", "Peak of the learning rate for a batch of 256.")),
    Row("body_learning_rate_factor",
        Field<&P::optimizer, &O::body_rate_factor>(), NotNegative(), "",
        "Factor of the learning rate of all layers but the classifier, in a "
        "training that starts from resnet_checkpoint."),
    Row("layer_decay", Field<&P::optimizer, &O::layer_decay>(),
        {.min = 0, .max = 1, .min_is_open = true}, "",
        "Learning rate of each block by that of the block after it, down from "
        "the classifier; the stem counts as a block.")
        .NotFor("model", "lenet"),
    Row("layer_decay_blocks", Field<&P::optimizer, &O::layer_decay_blocks>(),
        Between(1, 99), "blocks",
        "Most blocks in a row that have one learning rate with layer_decay.")
        .Needs("layer_decay"),
    Row("learning_rate_scaling",
        ChoiceField<kRateScalings, &P::optimizer, &O::learning_rate,
                    &R::scaled_by_batch>(),
        Any(), "",
        "Scaling of the learning rate: by train_batch_size / 256, or none."),
    Row("learning_rate_schedule",
        ChoiceField<kRateSchedules, &P::optimizer, &O::learning_rate,
                    &R::schedule>(),
        Any(), "",
        "Learning rate after the warm-up: a tenth at 30, 60 and 80 of 90 "
        "epochs (reference) or at each third of the run (steps), multiplied by "
        "learning_rate_decay every learning_rate_decay_epochs (step), at each "
        "of them (multistep) or steadily (exponential), a cosine, one up and "
        "one down (onecycle) or a line to min_learning_rate, multiplied by "
        "learning_rate_decay where evaluations do not improve (plateau), or "
        "constant."),
    Row("learning_rate_decay",
        Field<&P::optimizer, &O::learning_rate, &R::decay>(),
        {.min = 0, .max = 1, .min_is_open = true}, "",
        "Factor of the learning rate at each decay of the schedules step, "
        "multistep and plateau, and per epoch of exponential.")
        .OnlyWith("learning_rate_schedule",
                  "step|multistep|exponential|plateau"),
    Row("learning_rate_decay_epochs", Field<&P::learning_rate_decay_epochs>(),
        Any(), "epochs",
        "Epochs between decays of the schedule step, or epochs of the decays "
        "of multistep, as '30,60,80'.",
        "30 of step")
        .OnlyWith("learning_rate_schedule", "step|multistep"),
    Row("min_learning_rate",
        Field<&P::optimizer, &O::learning_rate, &R::min_rate>(), NotNegative(),
        "",
        "Lowest learning rate after the warm-up; 0: 0, of onecycle 1/250000 "
        "of the peak."),
    Row("plateau", Field<&P::plateau>(), Any(), "",
        "Metric of the evaluations, and the number of them in a row that may "
        "be no better before the schedule plateau lowers the rate: "
        "'METRIC:EVALUATIONS'.")
        .OnlyWith("learning_rate_schedule", "plateau"),
    Row("warmup_epochs",
        Field<&P::optimizer, &O::learning_rate, &R::warmup_epochs>(),
        Between(-1, 1e6), "epochs",
        "Epochs in which the learning rate rises; -1: the schedule's own."),
    Row("warmup_factor",
        Field<&P::optimizer, &O::learning_rate, &R::warmup_factor>(),
        Between(0, 1), "",
        "Learning rate at the start of the warm-up, as a fraction of the peak; "
        "0: 0, of onecycle 1/25."),
    Row("schedule_after_warmup",
        Field<&P::optimizer, &O::learning_rate, &R::after_warmup>(), Any(), "",
        "Begin step, multistep, exponential, cosine and linear at the end of "
        "the warm-up, as torchvision; false: at the start of the run, where "
        "the warm-up replaces their first part, as timm.")
        .OnlyWith("learning_rate_schedule",
                  "step|multistep|exponential|cosine|linear"),
    Row("poly_rate", Field<&P::optimizer, &O::learning_rate, &R::poly_rate>(),
        NotNegative(), "",
        "Peak of the learning rate with LARS; 0: the reference's for the "
        "batch."),
    Row("momentum", Field<&P::optimizer, &O::momentum>(), BelowOne(), "",
        "Momentum of the optimizers momentum, lars and rmsprop."),
    Row("use_nesterov", Field<&P::optimizer, &O::nesterov>(), Any(), "",
        "Use Nesterov's momentum."),
    Row("weight_decay", Field<&P::optimizer, &O::weight_decay>(), NotNegative(),
        "", "Factor of the L2 term of the loss."),
    Row("weight_decay_scope",
        ChoiceField<kDecayScopes, &P::optimizer, &O::decay_scope>(), Any(), "",
        "Parameters that decay: all but batch norm's (reference), all but "
        "batch norm's and biases (weights), or all."),
    Row("norm_weight_decay", Field<&P::optimizer, &O::norm_weight_decay>(),
        {.min = -1}, "",
        "Weight decay of batch norm's parameters; negative: as "
        "weight_decay_scope.")
        .NotFor("model", "lenet"),
    Row("loss", ChoiceField<kLosses, &P::optimizer, &O::loss, &L::kind>(),
        Any(), "",
        "Loss of the training: cross-entropy of the softmax, or binary "
        "cross-entropy of each class's sigmoid (bce)."),
    Row("bce_target_threshold",
        Field<&P::optimizer, &O::loss, &L::target_threshold>(), BelowOne(), "",
        "Target above which a class's target becomes 1 in loss=bce, and "
        "otherwise 0; 0: targets as smoothing and mixing make them.")
        .OnlyWith("loss", "bce"),
    Row("label_smoothing",
        Field<&P::optimizer, &O::loss, &L::label_smoothing>(), BelowOne(), "",
        "Fraction of the target that is spread evenly over all classes."),
    Row("loss_class_weights", Field<&P::loss_class_weights>(), Any(), "file",
        "Weights of the classes in the loss of the training: a file with a "
        "class and its weight per line, or balanced: inverse to the numbers of "
        "the classes' training images. An evaluation's loss has no weights.",
        "none"),
    Row("distill_from", Field<&P::distill_from>(), Any(), "path",
        "Learn from a teacher, too, which sees the same images: a model_dir of "
        "train_resnet, whose best checkpoint is used, or weights as of "
        "resnet_checkpoint.",
        "no teacher"),
    Row("distill_model", Field<&P::distill_model>(NetworkNames()), Any(), "",
        "Network of the teacher where distill_from is weights alone.",
        "that of the model_dir")
        .OfTeacher()
        .Needs("distill_from"),
    Row("distill_weight", Field<&P::optimizer, &O::distill, &D::weight>(),
        {.min = 0, .max = 1, .min_is_open = true}, "",
        "Fraction of the loss that comes from the teacher; the rest is the "
        "loss against the labels.")
        .OfTeacher()
        .Needs("distill_from"),
    Row("distill_temperature",
        Field<&P::optimizer, &O::distill, &D::temperature>(), NotNegative(), "",
        "Divisor of both networks' logits in the divergence from the teacher; "
        "0: the cross-entropy with the class that it predicts.")
        .OfTeacher()
        .Needs("distill_from"),
    Row("moving_average_decay",
        Field<&P::optimizer, &O::moving_average_decay>(), BelowOne(), "",
        "Fraction of the moving average of the weights kept per step; "
        "evaluation uses the average; 0: none."),
    Row("moving_average_every",
        Field<&P::optimizer, &O::moving_average_every>(), Between(1, 1'000'000),
        "steps", "Steps between updates of the moving average.")
        .Needs("moving_average_decay"),
    Row("moving_average_warmup",
        ChoiceField<kAverageWarmups, &P::optimizer,
                    &O::moving_average_warmup>(),
        Any(), "",
        "Beginning of the moving average: it keeps less while it has few "
        "updates (rising), it equals the weights during the learning rate's "
        "warm-up and then keeps moving_average_decay, as torchvision (follow), "
        "or it keeps that from the start, as timm (none).")
        .Needs("moving_average_decay"),
    Row("eval_live_weights", Field<&P::eval_live_weights>(), Any(), "",
        "Evaluate the weights, too, beside their moving average, in twice the "
        "time.")
        .Needs("moving_average_decay"),
    Row("export_moving_average", Field<&P::export_moving_average>(), Any(), "",
        "Export the moving average instead of the weights.")
        .Needs("moving_average_decay"),
    Row("clip_gradient_norm", Field<&P::optimizer, &O::clip_gradient_norm>(),
        NotNegative(), "",
        "Maximum norm of the gradient of all weights together; 0: no limit."),
    Row("gradient_accumulation_steps",
        Field<&P::optimizer, &O::accumulation_steps>(), Between(1, 4096),
        "parts", "Parts in which a batch is computed, to save memory."),
};

}  // namespace

std::span<const Param> LearningParams() { return kOptimizerParams; }

}  // namespace infeed
