#include "trainer/param_ranges.h"

namespace infeed {
namespace {

using P = TrainParams;

const Param kTable[] = {
    {"train_steps", &P::train_steps, Between(1, kMaxSteps), "steps",
     "Length of the whole training, earlier runs included.", "90 epochs"},
    {"train_epochs", &P::train_epochs, Between(0, 1e9), "epochs",
     "The same in epochs; give one of the two.", "train_steps counts"},
    {"iterations_per_loop", &P::iterations_per_loop, Between(1, kMaxSteps),
     "steps", "What the device runs before the host is asked again.",
     "one epoch, at most 1251"},
    {"steps_per_eval", &P::steps_per_eval, Between(1, kMaxSteps), "steps",
     "Between evaluations.", "one epoch"},
    {"steps_per_checkpoint", &P::steps_per_checkpoint, Between(1, kMaxSteps),
     "steps",
     "Between checkpoints; one is written at the first end of a loop after "
     "them.",
     "5000, at least iterations_per_loop"},
    {"keep_last", &P::keep_last, Between(1, 1'000'000), "checkpoints",
     "How many are kept; older ones are deleted.", ""},
    {"keep_every", &P::keep_every, Between(0, kMaxSteps), "steps",
     "Checkpoints of multiples of it are never deleted; 0: none.", ""},
    {"keep_best", &P::keep_best, OneOf("none|top_1|top_5|loss|mean_class|auc"),
     "", "The checkpoint with the best evaluation by this metric is kept.", ""},
    {"use_async_checkpointing", &P::use_async_checkpointing, Any(), "",
     "Write checkpoints beside the training.", ""},
    {"log_step_count_steps", &P::log_step_count_steps, Between(1, kMaxSteps),
     "steps", "Between lines in metrics.jsonl and the event file.", ""},
    {"skip_host_call", &P::skip_host_call, Any(), "",
     "Leave the steps out of metrics.jsonl and the events: loops alone count.",
     ""},
    {"epoch_lines", &P::epoch_lines, Any(), "",
     "Print a line of losses and accuracies after each epoch.", ""},
    {"profile_every_n_steps", &P::profile_every_n_steps, Between(0, kMaxSteps),
     "steps", "Between profiles; 0: none.", ""},
    {"profile_every_n_seconds", &P::profile_every_n_seconds, Between(0, 1e9),
     "seconds", "The same by time.", ""},
    {"tpu_profile_duration", &P::tpu_profile_duration, Between(1, 3'600'000),
     "ms", "Length of a profile.", ""},
    {"stop_at_top_1", &P::stop_at_top_1, Between(0, 1), "",
     "An evaluation that reaches it ends the training; 0: none does.", ""},
};

}  // namespace

std::span<const Param> RunLengthParams() { return kTable; }

}  // namespace infeed
