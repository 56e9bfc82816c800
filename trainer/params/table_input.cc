#include "pipeline/order/thread_limit.h"
#include "trainer/params/ranges.h"

namespace infeed {
namespace {

using P = TrainParams;

const Param kTable[] = {
    {"graph", &P::graph, OneOf("flow|basic"), "",
     "Schedule of the input: overlapped in all threads (flow), or one record "
     "after the other (basic), to see what a slow input does.",
     ""},
    {"num_parallel_calls", &P::num_parallel_calls, Between(0, kMostThreads),
     "threads", "Threads of the input pipeline.", "one for each core"},
    {"batches_in_pool", &P::batches_in_pool, Between(kLeastBatches, 1024),
     "batches", "Batches that are being filled, waiting or in use at once.",
     ""},
    {"prefetch_batches", &P::prefetch_batches, Between(0, 1024), "batches",
     "Batches ahead of those in the pool whose records are read already.", ""},
    {"autotune", &P::autotune, Any(), "",
     "Find num_parallel_calls, batches_in_pool and prefetch_batches by trying, "
     "for three seconds at the start.",
     ""},
    {"use_cache", &P::use_cache, Any(), "",
     "Keep encoded records in memory, as far as memory_limit allows.", ""},
    {"data_on_device", &P::data_on_device, Any(), "",
     "Keep the training images in the device's memory, from records with "
     "packed pixels; a GPU then trains whole loops without the host.",
     ""},
    {"device_resize", &P::device_resize, Any(), "",
     "Send crop windows to the device as decoded and resize them there, to the "
     "same pixels; recipes with antialiasing cannot.",
     ""},
    {"memory_limit", &P::memory_limit, Between(0x1p20, 0x1p44), "bytes",
     "Memory that the input may use, checked at the start: as 4GiB, 512MB, or "
     "as 50% of the memory of the machine or control group.",
     ""},
};

}  // namespace

std::span<const Param> InputParams() { return kTable; }

}  // namespace infeed
