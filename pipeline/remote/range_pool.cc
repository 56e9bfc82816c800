#include "pipeline/remote/range_pool.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace infeed {

// Shared with the ranges in use.
class RangePool::State {
 public:
  explicit State(int most) : most_(static_cast<std::size_t>(most)) {
    idle_.reserve(most_);  // So that Return() does not throw.
  }

  // null: all ranges are in use.
  std::unique_ptr<FilledRange> Take(
      const std::shared_ptr<OpenedStream>& stream);

  void Return(const std::shared_ptr<OpenedStream>& stream,
              std::unique_ptr<FilledRange> range) {
    const std::lock_guard lock(mutex_);
    idle_.push_back({stream, std::move(range)});
  }

 private:
  struct Idle {
    std::weak_ptr<OpenedStream> stream;
    std::unique_ptr<FilledRange> range;

    [[nodiscard]] bool IsOf(const std::shared_ptr<OpenedStream>& other) const {
      return !stream.owner_before(other) && !other.owner_before(stream);
    }
  };

  // Takes the stream's range that was used last, or, if there is none and no
  // other may be made, that of another stream which was used first. An empty
  // one: one may be made. nullopt: all are in use.
  std::optional<Idle> TakeIdle(const std::shared_ptr<OpenedStream>& stream);

  const std::size_t most_;
  std::mutex mutex_;
  std::size_t made_ = 0;
  std::vector<Idle> idle_;  // in the order in which they came back
};

std::optional<RangePool::State::Idle> RangePool::State::TakeIdle(
    const std::shared_ptr<OpenedStream>& stream) {
  const std::lock_guard lock(mutex_);
  const auto own =
      std::find_if(idle_.rbegin(), idle_.rend(),
                   [&](const Idle& idle) { return idle.IsOf(stream); });
  if (own == idle_.rend() && made_ < most_) {
    ++made_;
    return Idle();
  }
  if (idle_.empty()) {
    return std::nullopt;
  }
  const auto at = own == idle_.rend() ? idle_.begin() : std::prev(own.base());
  Idle taken = std::move(*at);
  idle_.erase(at);
  return taken;
}

std::unique_ptr<FilledRange> RangePool::State::Take(
    const std::shared_ptr<OpenedStream>& stream) {
  std::optional<Idle> idle = TakeIdle(stream);
  if (!idle) {
    return nullptr;
  }
  if (idle->range != nullptr && idle->IsOf(stream)) {
    return std::move(idle->range);
  }
  idle->range.reset();  // Its memory first makes room.
  try {
    return std::make_unique<FilledRange>(stream->filler().options(),
                                         OpenedStream::kMostSlots);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    --made_;
    throw;
  }
}

RangePool::RangePool(int most) : state_(std::make_shared<State>(most)) {}

std::shared_ptr<FilledRange> RangePool::Take(
    const std::shared_ptr<OpenedStream>& stream) {
  std::unique_ptr<FilledRange> range = state_->Take(stream);
  if (range == nullptr) {
    return nullptr;
  }
  return {range.release(), [state = state_, stream](FilledRange* used) {
            state->Return(stream, std::unique_ptr<FilledRange>(used));
          }};
}

}  // namespace infeed
