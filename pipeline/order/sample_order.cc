#include "pipeline/order/sample_order.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <string>
#include <utility>

#include "base/count_text.h"
#include "base/error.h"
#include "pipeline/options/overloaded.h"
#include "pipeline/order/selection.h"

namespace infeed {
namespace {

constexpr std::int64_t kMaxRecords = std::numeric_limits<std::uint32_t>::max();

}  // namespace

std::vector<std::uint32_t> TorchOrder(std::int64_t records, std::uint64_t seed,
                                      std::uint32_t epoch) {
  Check(records >= 0 && records <= kMostTorchRecords,
        "PyTorch orders so many records like this");
  std::mt19937 engine(static_cast<std::uint32_t>(seed + epoch));
  std::vector<std::uint32_t> order(static_cast<std::size_t>(records));
  std::iota(order.begin(), order.end(), 0U);
  for (std::size_t place = 0; place + 1 < order.size(); ++place) {
    const std::size_t left = order.size() - place;
    std::swap(order[place], order[place + engine() % left]);
  }
  return order;
}

std::int64_t EpochOrder::RecordAt(std::int64_t position) const {
  Check(position >= 0 && position < places_, "the position is in the epoch");
  const std::int64_t image = position / crops_;
  const std::int64_t place = std::visit(
      Overloaded{
          [&](const OwnOrder&) { return image; },
          [&](const KeyedPermutation& permutation) {
            return std::int64_t{
                permutation.At(static_cast<std::uint32_t>(image))};
          },
          [&](const Windows& windows) { return windows->RecordAt(image); },
          [&](const Table& table) {
            return std::int64_t{(*table)[static_cast<std::size_t>(image)]};
          }},
      order_);
  return selection_ ? selection_->RecordAt(seed_, epoch_, place) : place;
}

void EpochOrder::ToRecords(std::span<std::int64_t> positions) const {
  const auto* const permutation = std::get_if<KeyedPermutation>(&order_);
  if (permutation == nullptr || selection_ != nullptr || crops_ > 1) {
    for (std::int64_t& position : positions) {
      position = RecordAt(position);
    }
    return;
  }
  std::vector<std::uint32_t> elements;
  elements.reserve(positions.size());
  for (const std::int64_t position : positions) {
    Check(position >= 0 && position < places_, "the position is in the epoch");
    elements.push_back(static_cast<std::uint32_t>(position));
  }
  permutation->ToElements(elements);
  std::ranges::copy(elements, positions.begin());
}

SampleOrder::SampleOrder(std::vector<std::int64_t> shard_sizes,
                         const InputOptions& options)
    : shard_sizes_(std::move(shard_sizes)),
      selection_(options.selection),
      records_(std::reduce(shard_sizes_.begin(), shard_sizes_.end())),
      crops_(options.training ? 1 : options.preprocess.crop.eval_crops),
      places_(crops_ * (selection_ ? selection_->places() : records_)),
      shuffle_(ShuffleOf(options)),
      window_(
          {.shards = options.window_shards, .records = options.window_records}),
      seed_(options.seed) {
  if (records_ > kMaxRecords) {
    throw UsageError("the data set has " + std::to_string(records_) +
                     " records, more than the " + std::to_string(kMaxRecords) +
                     " that one order can hold: give fewer shards");
  }
  if (shuffle_ == Shuffle::kTorch && records_ > kMostTorchRecords) {
    throw UsageError("shuffle=torch is for " +
                     std::to_string(kMostTorchRecords) +
                     " records at most, the data set has " +
                     std::to_string(records_) + ": give shuffle=global");
  }
  if (selection_) {
    CheckSelection(options.max_records);
  }
}

void SampleOrder::CheckSelection(std::int64_t max_records) const {
  if (max_records != 0) {
    throw UsageError(
        "max_records and a selection exclude each other: leave one out");
  }
  if (selection_->last_record() >= records_) {
    throw UsageError("record " + std::to_string(selection_->last_record()) +
                     " is selected, but the data set has only " +
                     CountText(records_, "record"));
  }
  const bool has_order =
      shuffle_ == Shuffle::kGlobal ||
      (shuffle_ == Shuffle::kNone && selection_->is_subset());
  if (!has_order) {
    throw UsageError(
        "shuffle is " + std::string(ChoiceName(shuffle_, kShuffles)) +
        ": a selection needs global, or none where it is a "
        "subset without weights" +
        (shuffle_ == Shuffle::kNone ? "; none is the default without training"
                                    : ""));
  }
}

SampleOrder::SampleOrder(std::int64_t records, Shuffle shuffle,
                         std::uint64_t seed)
    : SampleOrder({records}, {.shuffle = shuffle, .seed = seed}) {}

EpochOrder SampleOrder::Epoch(std::uint32_t epoch) const {
  EpochOrder order;
  order.places_ = places_;
  order.crops_ = crops_;
  order.selection_ = selection_;
  order.seed_ = seed_;
  order.epoch_ = epoch;
  switch (shuffle_) {
    case Shuffle::kByMode:  // Resolved by the constructor.
    case Shuffle::kNone:
      break;
    case Shuffle::kGlobal:
      order.order_ = KeyedPermutation(
          static_cast<std::uint32_t>(places_ / crops_),
          {.seed = seed_, .epoch = epoch, .domain = kRecordDomain});
      break;
    case Shuffle::kWindow:
      order.order_ = std::make_shared<const WindowOrder>(shard_sizes_, window_,
                                                         seed_, epoch);
      break;
    case Shuffle::kTorch:
      order.order_ = std::make_shared<const std::vector<std::uint32_t>>(
          TorchOrder(places_ / crops_, seed_, epoch));
      break;
  }
  return order;
}

const EpochOrder& CurrentEpoch::Of(std::uint32_t epoch) {
  if (!current_ || epoch != epoch_) {
    epoch_ = epoch;
    current_ = order_.Epoch(epoch);
  }
  return *current_;
}

std::vector<std::int64_t> ShardSizes(const RecordIndex& index,
                                     std::int64_t max_records) {
  std::int64_t left = max_records == 0 ? index.size() : max_records;
  std::vector<std::int64_t> sizes;
  for (std::size_t shard = 0; shard < index.shards().size(); ++shard) {
    sizes.push_back(std::min(index.shard_size(shard), left));
    left -= sizes.back();
  }
  return sizes;
}

}  // namespace infeed
