#include "records/bytes/byte_budget.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace infeed {

bool ByteBudget::TryTake(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes > limit_ - held_) {
    return false;
  }
  held_ += bytes;
  peak_ = std::max(peak_, held_);
  return true;
}

void ByteBudget::Give(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  held_ -= bytes;
  Check(held_ >= 0, "no more is given back than was taken");
}

std::int64_t ByteBudget::peak() const {
  const std::lock_guard lock(mutex_);
  return peak_;
}

std::int64_t ByteBudget::held() const {
  const std::lock_guard lock(mutex_);
  return held_;
}

BudgetShare::BudgetShare(BudgetShare&& other) noexcept
    : budget_(std::move(other.budget_)),
      bytes_(std::exchange(other.bytes_, 0)) {}

BudgetShare& BudgetShare::operator=(BudgetShare&& other) noexcept {
  std::swap(budget_, other.budget_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

bool BudgetShare::TryTake(std::shared_ptr<ByteBudget> budget,
                          std::int64_t bytes) {
  Reset();
  if (!budget->TryTake(bytes)) {
    return false;
  }
  budget_ = std::move(budget);
  bytes_ = bytes;
  return true;
}

void BudgetShare::Reset() {
  if (budget_ != nullptr) {
    budget_->Give(std::exchange(bytes_, 0));
    budget_.reset();
  }
}

}  // namespace infeed
