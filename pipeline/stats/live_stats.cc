#include "pipeline/stats/live_stats.h"

#include <utility>

namespace infeed {

LiveStats::Shown::Shown(LiveStats* live, Source source) : live_(live) {
  if (live_ != nullptr) {
    const std::lock_guard lock(live_->mutex_);
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

std::optional<PipelineStats> LiveStats::Read() const {
  const std::lock_guard lock(mutex_);
  return source_ ? source_() : last_;
}

}  // namespace infeed
