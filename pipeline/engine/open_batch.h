#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <span>
#include <vector>

#include "pipeline/memory/batch.h"
#include "pipeline/order/batch_plan.h"
#include "pipeline/order/sample_order.h"
#include "pipeline/stats/bad_record.h"

namespace infeed {

// A batch while it is being filled: its plan, which record goes where, how many
// slots are still to come, the bad records among them, and the error that
// spoils it, if one does.
//
// Owns the batch's handle until TakeBatch(). Begin() and TakeBatch() from one
// thread at a time while no slot is being filled; SlotDone(), AddBadRecord()
// and Fail() from any. Used again for a later batch: nothing is allocated once
// warm.
class OpenBatch {
 public:
  // Begins the number-th batch of the stream (from 0): looks its records up and
  // blanks its padding.
  void Begin(std::int64_t number, const BatchPlan& plan,
             const EpochOrder& order, BatchHandle batch);

  [[nodiscard]] std::int64_t number() const { return number_; }
  [[nodiscard]] const BatchPlan& plan() const { return plan_; }
  [[nodiscard]] std::int64_t record(int slot) const {
    return records_[static_cast<std::size_t>(slot)];
  }
  [[nodiscard]] Batch& batch() { return *batch_; }

  // Says that a slot is filled, or will never be. Returns true for the last.
  [[nodiscard]] bool SlotDone() {
    return unfilled_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

  // Spoils the batch. Of several errors the one in the lowest slot counts, so
  // that the error does not depend on which thread came first.
  void Fail(int slot, std::exception_ptr error);

  // Leaves word of a bad record.
  void AddBadRecord(BadRecord bad);

  // Once every slot is done: the bad records in the order of their slots, those
  // behind the error's left out.
  [[nodiscard]] std::span<const BadRecord> BadRecords();
  // Once every slot is done: the error, nullptr when all is well.
  [[nodiscard]] std::exception_ptr error();
  [[nodiscard]] BatchHandle TakeBatch() { return std::move(batch_); }

 private:
  std::int64_t number_ = 0;
  BatchPlan plan_;
  std::vector<std::int64_t> records_;  // of each slot that is not padding
  BatchHandle batch_;
  std::atomic<int> unfilled_{0};
  std::mutex mutex_;
  std::vector<BadRecord> bad_records_;
  std::exception_ptr error_;
  int error_slot_ = 0;
};

}  // namespace infeed
