#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

namespace infeed {

// A limit on the memory that many readers and writers hold together. No call
// waits for room: a caller that gets none does without the memory, so that the
// budget can never cause a deadlock.
//
// Thread-safe. Does not fail.
class ByteBudget {
 public:
  explicit ByteBudget(std::int64_t limit) : limit_(limit) {}

  // Takes bytes and returns true if there is room; Give() must then follow.
  // Requires: bytes >= 0.
  [[nodiscard]] bool TryTake(std::int64_t bytes);
  void Give(std::int64_t bytes);

  // The most that was ever held at once.
  [[nodiscard]] std::int64_t peak() const;
  [[nodiscard]] std::int64_t held() const;

 private:
  const std::int64_t limit_;
  mutable std::mutex mutex_;
  std::int64_t held_ = 0;
  std::int64_t peak_ = 0;
};

// A part of a budget; its destructor gives it back. Move only.
class BudgetShare {
 public:
  BudgetShare() = default;
  ~BudgetShare() { Reset(); }
  BudgetShare(BudgetShare&& other) noexcept;
  BudgetShare& operator=(BudgetShare&& other) noexcept;
  BudgetShare(const BudgetShare&) = delete;
  BudgetShare& operator=(const BudgetShare&) = delete;

  // Returns false, and holds nothing, when there is no room.
  [[nodiscard]] bool TryTake(std::shared_ptr<ByteBudget> budget,
                             std::int64_t bytes);
  void Reset();

 private:
  std::shared_ptr<ByteBudget> budget_;
  std::int64_t bytes_ = 0;
};

}  // namespace infeed
