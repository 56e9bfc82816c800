#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

namespace infeed {

// How much memory many readers and writers may hold together. Nobody waits for
// it: what does not fit is done without, so that it can never be the cause of a
// standstill.
//
// Thread-safe. Does not fail.
class ByteBudget {
 public:
  explicit ByteBudget(std::int64_t limit) : limit_(limit) {}

  // Whether there was room; then Give() must follow. Requires: bytes >= 0.
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

// A part of a budget, given back at its end. Move only.
class BudgetShare {
 public:
  BudgetShare() = default;
  ~BudgetShare() { Reset(); }
  BudgetShare(BudgetShare&& other) noexcept;
  BudgetShare& operator=(BudgetShare&& other) noexcept;
  BudgetShare(const BudgetShare&) = delete;
  BudgetShare& operator=(const BudgetShare&) = delete;

  // False, and nothing held, when there is no room.
  [[nodiscard]] bool TryTake(std::shared_ptr<ByteBudget> budget,
                             std::int64_t bytes);
  void Reset();

 private:
  std::shared_ptr<ByteBudget> budget_;
  std::int64_t bytes_ = 0;
};

}  // namespace infeed
