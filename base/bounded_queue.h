#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"

namespace infeed {

// A point in time until which a call may wait.
using Deadline = std::chrono::steady_clock::time_point;
inline constexpr Deadline kNoDeadline = Deadline::max();

// A queue between two threads with at most `capacity` items. Push() waits while
// it is full, which is the back-pressure.
//
// Owns its items; allocates only when it holds more items than ever before.
// Errors take the same way as the data: a producer that fails calls
// Close(std::current_exception()), and Pop() rethrows that after the last good
// item. Thread-safe.
template <typename T>
class BoundedQueue {
 public:
  // Requires: capacity > 0.
  explicit BoundedQueue(std::size_t capacity) : capacity_(capacity) {
    Check(capacity > 0, "a queue holds at least one item");
  }

  ~BoundedQueue() = default;
  BoundedQueue(const BoundedQueue&) = delete;
  BoundedQueue& operator=(const BoundedQueue&) = delete;

  // Waits for room, then appends. Returns false, and drops the item, when the
  // queue is closed.
  bool Push(T item) {
    std::unique_lock lock(mutex_);
    not_full_.wait(lock, [&] { return closed_ || size_ < capacity_; });
    if (closed_) {
      return false;
    }
    Append(std::move(item));
    lock.unlock();
    not_empty_.notify_one();
    return true;
  }

  // Waits for an item. Once the queue is closed and empty, every call returns
  // nullopt, or rethrows the error that the queue was closed with.
  [[nodiscard]] std::optional<T> Pop() {
    return std::move(PopUntil(kNoDeadline).value());
  }

  // Pop() that waits until the deadline at most: the outer optional is empty if
  // there was no item by then, and the queue was not closed.
  [[nodiscard]] std::optional<std::optional<T>> PopUntil(Deadline deadline) {
    std::unique_lock lock(mutex_);
    if (!WaitForItem(lock, deadline)) {
      return std::nullopt;
    }
    if (size_ == 0) {
      if (error_) {
        std::rethrow_exception(error_);
      }
      return std::optional<T>();
    }
    std::optional<T> item = std::exchange(ring_[first_], std::nullopt);
    first_ = first_ + 1 == ring_.size() ? 0 : first_ + 1;
    --size_;
    lock.unlock();
    not_full_.notify_one();
    return item;
  }

  // Closes the queue: items in it can still be popped, but none can be pushed.
  // Only the first call has an effect.
  void Close(std::exception_ptr error = nullptr) {
    {
      const std::lock_guard lock(mutex_);
      if (closed_) {
        return;
      }
      closed_ = true;
      error_ = std::move(error);
    }
    not_empty_.notify_all();
    not_full_.notify_all();
  }

  // Closes the queue and drops its items: the consumer needs no more.
  void Cancel() {
    std::vector<std::optional<T>> dropped;
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
      dropped.swap(ring_);
      first_ = 0;
      size_ = 0;
    }
    not_empty_.notify_all();
    not_full_.notify_all();
  }

  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return size_;
  }

  [[nodiscard]] std::size_t capacity() const { return capacity_; }

 private:
  // Returns false if the queue was open and empty until the deadline.
  bool WaitForItem(std::unique_lock<std::mutex>& lock, Deadline deadline) {
    const auto is_ready = [&] { return closed_ || size_ > 0; };
    if (deadline == kNoDeadline) {
      not_empty_.wait(lock, is_ready);
      return true;
    }
    return not_empty_.wait_until(lock, deadline, is_ready);
  }

  // Requires: the lock is held, and the queue is not full.
  void Append(T item) {
    if (size_ == ring_.size()) {
      std::rotate(ring_.begin(),
                  ring_.begin() + static_cast<std::ptrdiff_t>(first_),
                  ring_.end());
      first_ = 0;
      ring_.resize(std::min(capacity_, 2 * size_ + 1));
    }
    const std::size_t place = first_ + size_;
    ring_[place < ring_.size() ? place : place - ring_.size()] =
        std::move(item);
    ++size_;
  }

  const std::size_t capacity_;
  mutable std::mutex mutex_;
  std::condition_variable not_empty_;
  std::condition_variable not_full_;
  // A ring: the size_ items start at first_ and wrap around to 0.
  std::vector<std::optional<T>> ring_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
  std::exception_ptr error_;
  bool closed_ = false;
};

}  // namespace infeed
