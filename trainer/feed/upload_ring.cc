#include "trainer/feed/upload_ring.h"

#include <pthread.h>

#include <cstddef>
#include <optional>
#include <utility>

#include "base/error.h"

namespace infeed {
namespace {

// More batches than any pool has, so Push() never waits.
constexpr std::size_t kManyBatches = std::size_t{1} << 20;

}  // namespace

UploadRing::UploadRing(UploadStreams& streams, int slots)
    : streams_(streams),
      slots_(slots),
      slot_(slots - 1),
      copying_(kManyBatches),
      returner_([this] { ReturnBatches(); }) {
  Check(slots >= 2, "one slot is copied to while another is used");
}

void UploadRing::ReturnBatches() {
  (void)::pthread_setname_np(::pthread_self(), "batch return");
  while (const std::optional<Copying> copying = copying_.Pop()) {
    WaitFor(*copying);
  }
}

// After a failure nothing is copied any more.
void UploadRing::WaitFor(const Copying& copying) {
  if (failed_) {
    return;
  }
  try {
    copying.wait();
  } catch (...) {
    error_ = std::current_exception();
    failed_.store(true, std::memory_order_release);
  }
}

int UploadRing::Upload(BatchHandle batch) {
  if (failed_.load(std::memory_order_acquire)) {
    std::rethrow_exception(error_);
  }
  slot_ = (slot_ + 1) % slots_;
  try {
    streams_.CopyAfterUse(slot_);
    streams_.Copy(slot_, *batch);
    std::function<void()> wait = streams_.MarkCopied();
    copying_.Push({std::move(batch), std::move(wait)});
    streams_.ComputeAfterCopy();
  } catch (...) {
    streams_.Finish();  // Before the batch returns to its pool.
    throw;
  }
  return slot_;
}

}  // namespace infeed
