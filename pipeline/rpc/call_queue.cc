#include "pipeline/rpc/call_queue.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <system_error>

namespace infeed {
namespace {

// As many as gRPC would have, half of the cores, but one where they are few.
int ThreadsOfProcess() {
  constexpr int kMost = 16;
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (::sched_getaffinity(0, sizeof cores, &cores) != 0) {
    return 1;
  }
  return std::clamp(CPU_COUNT(&cores) / 2, 1, kMost);
}

}  // namespace

CallQueue::CallQueue() {
  try {
    for (int i = ThreadsOfProcess(); i > 0; --i) {
      threads_.emplace_back([this] { Work(); });
    }
  } catch (const std::system_error&) {
    if (threads_.empty()) {  // Fewer are only slower.
      throw;
    }
  }
}

CallQueue::~CallQueue() {
  queue_.Shutdown();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

void CallQueue::Work() {
  (void)::pthread_setname_np(::pthread_self(), "infeed receive");
  void* tag = nullptr;
  bool ok = false;  // A call's own status says more.
  while (queue_.Next(&tag, &ok)) {
    static_cast<QueuedCall*>(tag)->End();
  }
}

}  // namespace infeed
