#include "records/cloud/object_source.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <iterator>
#include <map>
#include <stop_token>
#include <utility>

#include "base/error.h"
#include "base/rounding.h"
#include "base/shown_text.h"

namespace infeed {
namespace {

// An announced range that this many reads have skipped will hardly be read any
// more.
constexpr std::int64_t kReadsUntilStale = 64;

// Scores to detect reading in order: a read that continues the one before
// counts much; one that skips a little, as reads of frame headers do, counts
// less. From kOrderEnough on, reads are expected to go on in order.
constexpr int kOrderOfNext = 4;
constexpr int kOrderOfNear = 1;
constexpr int kOrderEnough = 8;
constexpr std::int64_t kNearBytes = std::int64_t{1} << 20;

}  // namespace

// Fetches ranges of one object before they are read, on the process's fetch
// threads and within its byte budget.
//
// Owns the ranges; each is dropped after it was read once. The runtime must
// outlive it. Thread-safe. Take() rethrows the IoError of the fetch.
class ObjectSource::ReadAhead {
 public:
  ReadAhead(const CloudRuntime& runtime, std::string url, ObjectInfo info);

  // Begins to fetch the missing parts of [begin, end), as far as this object's
  // memory limit and the budget allow, in pieces that end at multiples of the
  // block size. Ranges before keep_from are dropped: they will not be read.
  void Start(std::int64_t begin, std::int64_t end, std::int64_t keep_from);

  // Copies bytes from offset on out of a fetched range and returns their
  // number; waits if the range is being fetched. 0: no range holds offset.
  [[nodiscard]] std::size_t Take(std::int64_t offset,
                                 std::span<std::byte> destination);

  // The begin of the next range behind offset; the object's end if there is
  // none.
  [[nodiscard]] std::int64_t NextBegin(std::int64_t offset) const;

 private:
  class Block;
  struct Entry {
    std::shared_ptr<Block> block;
    std::int64_t taken = 0;     // bytes already read
    std::int64_t last_use = 0;  // reads_ at that time
  };
  // Keyed by the first byte; blocks do not overlap.
  using Blocks = std::map<std::int64_t, Entry>;

  [[nodiscard]] Blocks::iterator Covering(std::int64_t offset);
  void DropBefore(std::int64_t offset);
  [[nodiscard]] bool MakeRoom(std::int64_t bytes);
  [[nodiscard]] bool StartBlock(std::int64_t begin, std::int64_t end);
  void Erase(Blocks::iterator place);
  void EndUse(const std::shared_ptr<Block>& block, std::int64_t bytes);

  const CloudRuntime& runtime_;
  const std::string url_;
  const ObjectInfo info_;
  const std::int64_t max_bytes_;
  mutable std::mutex mutex_;
  Blocks blocks_;
  std::int64_t bytes_ = 0;  // in blocks_
  std::int64_t reads_ = 0;
};

// One range: waiting for a thread, being fetched, or fetched.
class ObjectSource::ReadAhead::Block {
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

ObjectSource::ReadAhead::ReadAhead(const CloudRuntime& runtime, std::string url,
                                   ObjectInfo info)
    : runtime_(runtime),
      url_(std::move(url)),
      info_(std::move(info)),
      // Besides the blocks ahead: the block being read, and a rest of the one
      // before it.
      max_bytes_((runtime.settings.read_ahead_blocks + 2) *
                 runtime.settings.block_bytes) {}

// The block that holds a byte, or end().
ObjectSource::ReadAhead::Blocks::iterator ObjectSource::ReadAhead::Covering(
    std::int64_t offset) {
  const auto behind = blocks_.upper_bound(offset);
  if (behind == blocks_.begin()) {
    return blocks_.end();
  }
  const auto place = std::prev(behind);
  return offset < place->second.block->end() ? place : blocks_.end();
}

void ObjectSource::ReadAhead::Erase(Blocks::iterator place) {
  bytes_ -= place->second.block->size();
  blocks_.erase(place);
}

void ObjectSource::ReadAhead::DropBefore(std::int64_t offset) {
  while (!blocks_.empty() && blocks_.begin()->second.block->end() <= offset) {
    Erase(blocks_.begin());
  }
}

// Drops blocks that are hardly needed, and returns whether `bytes` more may be
// held.
bool ObjectSource::ReadAhead::MakeRoom(std::int64_t bytes) {
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

bool ObjectSource::ReadAhead::StartBlock(std::int64_t begin, std::int64_t end) {
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

void ObjectSource::ReadAhead::Start(std::int64_t begin, std::int64_t end,
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

std::size_t ObjectSource::ReadAhead::Take(std::int64_t offset,
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
void ObjectSource::ReadAhead::EndUse(const std::shared_ptr<Block>& block,
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

std::int64_t ObjectSource::ReadAhead::NextBegin(std::int64_t offset) const {
  const std::lock_guard lock(mutex_);
  const auto behind = blocks_.upper_bound(offset);
  return behind == blocks_.end() ? info_.size : behind->first;
}

ObjectSource::ObjectSource(const std::string& url)
    : ObjectSource(url, SharedObjectStore()->Stat(url)) {}

ObjectSource::ObjectSource(const std::string& url, ObjectInfo info)
    : ByteSource(UrlForMessages(url)),
      runtime_(SharedCloudRuntime()),
      url_(url),
      info_(std::move(info)),
      ahead_(std::make_unique<ReadAhead>(*runtime_, url_, info_)) {
  set_size(info_.size);
  set_version(info_.version());
}

std::size_t ObjectSource::ReadAt(std::int64_t offset,
                                 std::span<std::byte> destination) const {
  Check(offset >= 0, "an object starts at 0");
  const std::int64_t end = std::min(
      info_.size, offset + static_cast<std::int64_t>(destination.size()));
  if (end <= offset) {
    return 0;
  }
  const std::int64_t block_bytes = runtime_->settings.block_bytes;
  if (IsInOrder(offset, end) && runtime_->settings.read_ahead_blocks > 0) {
    const std::int64_t blocks_end =
        (end / block_bytes + 1 + runtime_->settings.read_ahead_blocks) *
        block_bytes;
    ahead_->Start(offset, blocks_end, offset);
  }
  for (std::int64_t place = offset; place < end;) {
    const auto rest =
        destination.subspan(static_cast<std::size_t>(place - offset),
                            static_cast<std::size_t>(end - place));
    std::size_t got = ahead_->Take(place, rest);
    if (got == 0) {
      got = std::min<std::size_t>(
          rest.size(),
          static_cast<std::size_t>(ahead_->NextBegin(place) - place));
      FetchRange(*runtime_, url_, place, rest.first(got), info_);
    }
    place += static_cast<std::int64_t>(got);
  }
  return static_cast<std::size_t>(end - offset);
}

ObjectSource::~ObjectSource() = default;

void ObjectSource::WillRead(std::int64_t offset, std::int64_t bytes) const {
  if (offset >= 0 && bytes > 0 && offset < info_.size) {
    ahead_->Start(offset, offset + std::min(bytes, info_.size - offset), 0);
  }
}

// Whether the latest reads went forward in the object.
bool ObjectSource::IsInOrder(std::int64_t offset, std::int64_t end) const {
  const std::lock_guard lock(mutex_);
  const std::int64_t step = offset - std::exchange(last_end_, end);
  if (step < 0 || step > kNearBytes) {
    order_ = 0;
  } else {
    order_ = std::min(order_ + (step == 0 ? kOrderOfNext : kOrderOfNear),
                      kOrderEnough);
  }
  return order_ >= kOrderEnough;
}

void FetchRange(const CloudRuntime& runtime, const std::string& url,
                std::int64_t offset, std::span<std::byte> destination,
                const ObjectInfo& info) {
  const auto block = static_cast<std::size_t>(runtime.settings.block_bytes);
  const std::size_t blocks = CeilDiv(destination.size(), block);
  runtime.pool->ForEach(blocks, [&](std::size_t i) {
    const std::size_t begin = i * block;
    runtime.store.Read(
        url, offset + static_cast<std::int64_t>(begin),
        destination.subspan(begin, std::min(block, destination.size() - begin)),
        info);
  });
}

}  // namespace infeed
