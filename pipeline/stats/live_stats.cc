#include "pipeline/stats/live_stats.h"

#include <utility>

namespace infeed {

LiveStats::Shown::Shown(LiveStats* live, Source source) : live_(live) {
  if (live_ != nullptr) {
    const std::lock_guard lock(live_->mutex_);
    ++live_->run_;
    live_->source_ = std::move(source);
  }
}

LiveStats::Shown::~Shown() {
  if (live_ != nullptr) {
    const std::lock_guard lock(live_->mutex_);
    live_->last_ = live_->source_();
    live_->source_ = nullptr;
  }
}

LiveStats::Snapshot LiveStats::Read() const {
  const std::lock_guard lock(mutex_);
  return {.run = run_, .stats = source_ ? source_() : last_};
}

}  // namespace infeed
