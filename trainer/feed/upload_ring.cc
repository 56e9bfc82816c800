#include "trainer/feed/upload_ring.h"

#include <pthread.h>

#include <cstddef>
#include <utility>

#include "base/error.h"

namespace infeed {
namespace {

// More than any pool has: Push() never waits.
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

UploadRing::~UploadRing() {
  streams_.Finish();
  copying_.Cancel();
  copied_.release();
}

void UploadRing::ReturnBatches() {
  (void)::pthread_setname_np(::pthread_self(), "batch return");
  do {
    copied_.acquire();
  } while (copying_.Pop());
}

int UploadRing::Upload(BatchHandle batch) {
  slot_ = (slot_ + 1) % slots_;
  const Batch& copied = *batch;
  copying_.Push(std::move(batch));
  streams_.CopyAfterUse(slot_);
  streams_.Copy(slot_, copied);
  streams_.NotifyCopied([this] { copied_.release(); });
  streams_.ComputeAfterCopy();
  return slot_;
}

}  // namespace infeed
