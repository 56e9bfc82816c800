#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "pipeline/memory/batch.h"
#include "pipeline/order/batch_plan.h"
#include "pipeline/stats/bad_record.h"
#include "records/example/fields.h"

namespace infeed {

// A batch while it is being filled: its plan, the number of slots still to
// fill, its bad records, and the error that makes it fail, if there is one.
//
// Owns the batch's handle until TakeBatch(). Begin() and TakeBatch() from one
// thread at a time while no slot is being filled; SlotDone(), AddBadRecord()
// and Fail() from any. It is reused for later batches; after the first ones
// nothing is allocated.
class OpenBatch {
 public:
  // Begins the number-th batch of the stream (from 0): blanks its padding
  // slots.
  void Begin(std::int64_t number, const PlannedBatch& planned,
             BatchHandle batch);

  [[nodiscard]] std::int64_t number() const { return number_; }
  [[nodiscard]] const BatchPlan& plan() const { return plan_; }
  // The record at the slot's place. Requires: the slot is not padding, and was
  // not filled yet.
  [[nodiscard]] std::int64_t record(int slot) const {
    return batch_->records()[static_cast<std::size_t>(slot)];
  }
  [[nodiscard]] Batch& batch() { return *batch_; }
  [[nodiscard]] const Batch& batch() const { return *batch_; }

  // Notes that a slot is filled, or never will be. Returns true for the last
  // slot.
  [[nodiscard]] bool SlotDone() {
    return unfilled_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

  // Makes the batch fail with an error. Of several errors the one in the lowest
  // slot is kept, so that it does not depend on thread timing.
  void Fail(int slot, std::exception_ptr error);

  // Takes the fields of the slot's record, each with one list, and after them
  // its boxes, if it has any, and gives their memory in exchange. For different
  // slots from several threads at once.
  void SetFields(int slot, std::vector<FieldColumn>& fields) {
    const auto at = static_cast<std::size_t>(slot);
    fields_[at].swap(fields);
    has_fields_[at] = 1;
  }

  // Notes a bad record.
  void AddBadRecord(BadRecord bad);

  // The bad records in the order of their slots, without those after the slot
  // of the error. Requires: every slot is done.
  [[nodiscard]] std::span<const BadRecord> BadRecords();
  // The error; nullptr: none. Requires: every slot is done.
  [[nodiscard]] std::exception_ptr error() const;
  // Puts the slots' fields and boxes into the batch, with empty lists for slots
  // without them. Requires: every slot is done.
  void GatherFields();
  [[nodiscard]] BatchHandle TakeBatch() { return std::move(batch_); }

 private:
  std::int64_t number_ = 0;
  BatchPlan plan_;
  // By slot: of this batch's records where has_fields_ is 1, else of another's.
  std::vector<std::vector<FieldColumn>> fields_;
  std::vector<std::uint8_t> has_fields_;
  BatchHandle batch_;
  std::atomic<int> unfilled_{0};
  mutable std::mutex mutex_;
  std::vector<BadRecord> bad_records_;
  std::exception_ptr error_;
  int error_slot_ = 0;
};

}  // namespace infeed
