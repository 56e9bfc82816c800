#include "trainer/params/ranges.h"

namespace infeed {
namespace {

using P = TrainParams;

const Param kTable[] = {
    {"train_steps", &P::train_steps, Between(1, kMaxSteps), "steps",
     "Length of the whole training, earlier runs included.", "90 epochs"},
    {"train_epochs", &P::train_epochs, Between(0, 1e9), "epochs",
     "Length of the whole training; give this or train_steps.",
     "train_steps counts"},
    {"iterations_per_loop", &P::iterations_per_loop, Between(1, kMaxSteps),
     "steps", "Steps that the device runs before the host is asked again.",
     "one epoch, at most 1251"},
    {"steps_per_eval", &P::steps_per_eval, Between(1, kMaxSteps), "steps",
     "Steps between evaluations.", "one epoch"},
    {"steps_per_checkpoint", &P::steps_per_checkpoint, Between(1, kMaxSteps),
     "steps",
     "Steps between checkpoints; one is written at the end of the first loop "
     "after them.",
     "5000, at least iterations_per_loop"},
    {"keep_last", &P::keep_last, Between(1, 1'000'000), "checkpoints",
     "Newest checkpoints that are kept; older ones are deleted.", ""},
    {"keep_every", &P::keep_every, Between(0, kMaxSteps), "steps",
     "Keep the checkpoints of all multiples of this step for good; 0: none.",
     ""},
    {"keep_best", &P::keep_best,
     OneOf("none|top_1|top_5|loss|mean_class|auc|auc_at_half"), "",
     "Keep the checkpoint with the best evaluation by this metric.", ""},
    {"use_async_checkpointing", &P::use_async_checkpointing, Any(), "",
     "Write checkpoints while the training goes on.", ""},
    {"log_step_count_steps", &P::log_step_count_steps, Between(1, kMaxSteps),
     "steps",
     "Steps between lines in metrics.jsonl, the event file and, with "
     "log_every_steps, on stderr.",
     ""},
    {"log_every_steps", &P::log_every_steps, Any(), "",
     "Print a line with loss, accuracy, learning rate and images/s every "
     "log_step_count_steps steps, beside the progress line.",
     ""},
    {"skip_host_call", &P::skip_host_call, Any(), "",
     "Leave the steps out of metrics.jsonl and the event file: loops alone are "
     "written.",
     ""},
    {"epoch_lines", &P::epoch_lines, Any(), "",
     "Print a line of losses and accuracies after each epoch.", ""},
    {"profile_every_n_steps", &P::profile_every_n_steps, Between(0, kMaxSteps),
     "steps", "Steps between profiles; 0: none.", ""},
    {"profile_every_n_seconds", &P::profile_every_n_seconds, Between(0, 1e9),
     "seconds", "Seconds between profiles; 0: none.", ""},
    {"tpu_profile_duration", &P::tpu_profile_duration, Between(1, 3'600'000),
     "ms", "Length of a profile.", ""},
    {"stop_at_top_1", &P::stop_at_top_1, Between(0, 1), "",
     "End the training after an evaluation with at least this top-1 accuracy; "
     "0: never.",
     ""},
};

}  // namespace

std::span<const Param> RunLengthParams() { return kTable; }

}  // namespace infeed
