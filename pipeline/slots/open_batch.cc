#include "pipeline/slots/open_batch.h"

#include <algorithm>

namespace infeed {

void OpenBatch::Begin(std::int64_t number, const PlannedBatch& planned,
                      BatchHandle batch) {
  number_ = number;
  plan_ = planned.plan;
  batch_ = std::move(batch);
  bad_records_.clear();
  error_ = nullptr;
  EnterPlan(planned, *batch_);
  const auto slots = static_cast<std::size_t>(batch_->size());
  fields_.resize(slots);
  has_fields_.assign(slots, 0);
  for (int slot = plan_.samples; slot < batch_->size(); ++slot) {
    batch_->BlankSlot(slot);
  }
  unfilled_.store(plan_.samples, std::memory_order_release);
}

void OpenBatch::Fail(int slot, std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  if (!error_ || slot < error_slot_) {
    error_ = std::move(error);
    error_slot_ = slot;
  }
}

void OpenBatch::AddBadRecord(BadRecord bad) {
  const std::lock_guard lock(mutex_);
  bad_records_.push_back(std::move(bad));
}

std::span<const BadRecord> OpenBatch::BadRecords() {
  const std::lock_guard lock(mutex_);
  std::ranges::sort(bad_records_, {}, [](const BadRecord& bad) {
    return std::pair(bad.slot, bad.draw);
  });
  if (error_) {
    std::erase_if(bad_records_, [this](const BadRecord& bad) {
      return bad.slot > error_slot_;
    });
  }
  return bad_records_;
}

void OpenBatch::GatherFields() {
  const std::vector<FieldSpec>& specs = batch_->field_specs();
  const std::size_t count = specs.size();
  std::vector<FieldColumn>& columns = batch_->fields();
  columns.resize(count);
  BoxColumn& boxes = batch_->boxes();
  boxes.Clear();
  for (std::size_t slot = 0; slot < fields_.size(); ++slot) {
    boxes.Append(has_fields_[slot] != 0 && fields_[slot].size() > count
                     ? std::span<const float>(fields_[slot][count].floats)
                     : std::span<const float>());
  }
  for (std::size_t i = 0; i < count; ++i) {
    columns[i].Clear();
    if (specs[i].IsFixed()) {
      continue;
    }
    for (std::size_t slot = 0; slot < fields_.size(); ++slot) {
      if (has_fields_[slot] != 0) {
        columns[i].Append(fields_[slot][i]);
      } else {
        columns[i].AppendEmpty();
      }
    }
  }
}

std::exception_ptr OpenBatch::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

}  // namespace infeed
