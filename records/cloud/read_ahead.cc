#include "records/cloud/read_ahead.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <iterator>
#include <stop_token>
#include <utility>

namespace infeed {
namespace {

// An announced range that this many reads have skipped will hardly be read any
// more.
constexpr std::int64_t kReadsUntilStale = 64;

}  // namespace

// One range: waiting for a thread, being fetched, or fetched.
class ReadAhead::Block {
 public:
  Block(std::int64_t begin, std::int64_t end, ByteBudget::Share share)
      : begin_(begin), end_(end), share_(std::move(share)) {}

  [[nodiscard]] std::int64_t begin() const { return begin_; }
  [[nodiscard]] std::int64_t end() const { return end_; }
  [[nodiscard]] std::int64_t size() const { return end_ - begin_; }

  // Fetches the range, unless another thread does so or has done so.
  void Fetch(const ObjectStore& store, const std::string& url,
             const ObjectInfo& info, const std::stop_token& stop) {
    if (!Claim()) {
      return;
    }
    std::exception_ptr error;
    try {
      bytes_ = std::make_unique_for_overwrite<std::byte[]>(
          static_cast<std::size_t>(size()));
      store.Read(url, begin_, {bytes_.get(), static_cast<std::size_t>(size())},
                 info, stop);
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
    state_ = State::kEnded;
    ended_.notify_all();
  }

  // Waits for the fetch and rethrows its exception.
  [[nodiscard]] const std::byte* Bytes() {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [&] { return state_ == State::kEnded; });
    if (error_) {
      std::rethrow_exception(error_);
    }
    return bytes_.get();
  }

 private:
  enum class State { kWaiting, kRunning, kEnded };

  bool Claim() {
    const std::lock_guard lock(mutex_);
    return std::exchange(state_, std::max(state_, State::kRunning)) ==
           State::kWaiting;
  }

  const std::int64_t begin_;
  const std::int64_t end_;
  ByteBudget::Share share_;
  std::unique_ptr<std::byte[]> bytes_;
  std::mutex mutex_;
  std::condition_variable ended_;
  State state_ = State::kWaiting;
  std::exception_ptr error_;
};

ReadAhead::ReadAhead(const CloudRuntime& runtime, std::string url,
                     ObjectInfo info)
    : runtime_(runtime),
      url_(std::move(url)),
      info_(std::move(info)),
      // Besides the blocks ahead: the block being read, and a rest of the one
      // before it.
      max_bytes_((runtime.settings.read_ahead_blocks + 2) *
                 runtime.settings.block_bytes) {}

ReadAhead::~ReadAhead() = default;

// The block that holds a byte, or end().
ReadAhead::Blocks::iterator ReadAhead::Covering(std::int64_t offset) {
  const auto behind = blocks_.upper_bound(offset);
  if (behind == blocks_.begin()) {
    return blocks_.end();
  }
  const auto place = std::prev(behind);
  return offset < place->second.block->end() ? place : blocks_.end();
}

void ReadAhead::Erase(Blocks::iterator place) {
  bytes_ -= place->second.block->size();
  blocks_.erase(place);
}

void ReadAhead::DropBefore(std::int64_t offset) {
  while (!blocks_.empty() && blocks_.begin()->second.block->end() <= offset) {
    Erase(blocks_.begin());
  }
}

// Drops blocks that are hardly needed, and returns whether `bytes` more may be
// held.
bool ReadAhead::MakeRoom(std::int64_t bytes) {
  for (auto place = blocks_.begin();
       place != blocks_.end() && bytes_ + bytes > max_bytes_;) {
    const auto next = std::next(place);
    if (reads_ - place->second.last_use > kReadsUntilStale) {
      Erase(place);
    }
    place = next;
  }
  return bytes_ + bytes <= max_bytes_;
}

bool ReadAhead::StartBlock(std::int64_t begin, std::int64_t end) {
  ByteBudget::Share share = runtime_.budget->TryTake(end - begin);
  if (share == nullptr) {
    return false;
  }
  const auto block = std::make_shared<Block>(begin, end, std::move(share));
  blocks_.emplace(begin, Entry{.block = block, .last_use = reads_});
  bytes_ += block->size();
  // The pool's threads end before the store does. A block that was dropped
  // meanwhile is not fetched.
  runtime_.pool->Submit(
      [&store = runtime_.store, url = url_, info = info_,
       weak = std::weak_ptr(block)](const std::stop_token& stop) {
        if (const auto wanted = weak.lock()) {
          wanted->Fetch(store, url, info, stop);
        }
      });
  return true;
}

void ReadAhead::Start(std::int64_t begin, std::int64_t end,
                      std::int64_t keep_from) {
  const std::int64_t block_bytes = runtime_.settings.block_bytes;
  end = std::min(end, info_.size);
  const std::lock_guard lock(mutex_);
  DropBefore(keep_from);
  for (std::int64_t place = begin; place < end;) {
    if (const auto covering = Covering(place); covering != blocks_.end()) {
      place = covering->second.block->end();
      continue;
    }
    const auto behind = blocks_.upper_bound(place);
    const std::int64_t border =
        behind == blocks_.end() ? info_.size : behind->first;
    const std::int64_t piece_end =
        std::min({end, border, (place / block_bytes + 1) * block_bytes});
    if (!MakeRoom(piece_end - place) || !StartBlock(place, piece_end)) {
      return;
    }
    place = piece_end;
  }
}

std::size_t ReadAhead::Take(std::int64_t offset,
                            std::span<std::byte> destination) {
  std::shared_ptr<Block> block;
  {
    const std::lock_guard lock(mutex_);
    ++reads_;
    const auto place = Covering(offset);
    if (place == blocks_.end()) {
      return 0;
    }
    place->second.last_use = reads_;
    block = place->second.block;
  }
  const auto count = std::min<std::int64_t>(
      block->end() - offset, static_cast<std::int64_t>(destination.size()));
  try {
    // If no pool thread has begun the fetch, this thread does it.
    block->Fetch(runtime_.store, url_, info_, {});
    std::memcpy(destination.data(), block->Bytes() + (offset - block->begin()),
                static_cast<std::size_t>(count));
  } catch (...) {
    EndUse(block, block->size());  // The next read tries again.
    throw;
  }
  EndUse(block, count);
  return static_cast<std::size_t>(count);
}

// Drops a block of which every byte was read.
void ReadAhead::EndUse(const std::shared_ptr<Block>& block,
                       std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto place = blocks_.find(block->begin());
  if (place == blocks_.end() || place->second.block != block) {
    return;
  }
  place->second.taken += bytes;
  if (place->second.taken >= block->size()) {
    Erase(place);
  }
}

std::int64_t ReadAhead::NextBegin(std::int64_t offset) const {
  const std::lock_guard lock(mutex_);
  const auto behind = blocks_.upper_bound(offset);
  return behind == blocks_.end() ? info_.size : behind->first;
}

}  // namespace infeed
