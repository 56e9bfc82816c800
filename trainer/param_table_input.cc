#include "trainer/param_ranges.h"

namespace infeed {
namespace {

using P = TrainParams;

const Param kTable[] = {
    {"graph", &P::graph, OneOf("flow|basic"), "",
     "How the input works: overlapped in all threads, or one record after the "
     "other, to see what a slow input does.",
     ""},
    {"num_parallel_calls", &P::num_parallel_calls, Between(0, 4096), "threads",
     "Of the input.", "one for each core"},
    {"batches_in_pool", &P::batches_in_pool, Between(kLeastBatches, 1024),
     "batches", "That are filled, waiting or in use at once.", ""},
    {"prefetch_batches", &P::prefetch_batches, Between(0, 1024), "batches",
     "Ahead of those, whose records are asked for.", ""},
    {"autotune", &P::autotune, Any(), "",
     "Find the three above by trying, for three seconds at the start.", ""},
    {"use_cache", &P::use_cache, Any(), "",
     "Keep encoded records in memory, as far as memory_limit allows.", ""},
    {"data_on_device", &P::data_on_device, Any(), "",
     "Keep the training images in the device's memory, from records with "
     "packed pixels; a GPU then trains whole loops without the host.",
     ""},
    {"device_resize", &P::device_resize, Any(), "",
     "Give the device crop windows as they are decoded, which it resizes to "
     "the "
     "same pixels; not of recipes with antialiasing.",
     ""},
    {"memory_limit", &P::memory_limit, Between(0x1p20, 0x1p44), "bytes",
     "What the input may take; checked at start. Also as 4GiB, or as 50% of "
     "the machine's or the control group's memory.",
     ""},
};

}  // namespace

std::span<const Param> InputParams() { return kTable; }

}  // namespace infeed
