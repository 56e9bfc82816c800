#include "pipeline/sample_order.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <string>

#include "base/error.h"
#include "base/random.h"

namespace infeed {
namespace {

constexpr std::int64_t kMaxRecords = std::numeric_limits<std::uint32_t>::max();
constexpr int kMinRounds = 64;
constexpr int kRoundsPerBit = 6;
constexpr int kBitsPerBlock = 128;
constexpr std::uint32_t kFirstKeyBlock = 2;

int RoundsFor(std::uint32_t records) {
  return std::max(kMinRounds, kRoundsPerBit * static_cast<int>(
                                                  std::bit_width(records - 1)));
}

// The random bits of one element, a block of rounds at a time. Neighbouring
// rounds often ask about the same element, so the last block is kept.
class ElementBits {
 public:
  ElementBits(std::uint64_t seed, std::uint32_t epoch)
      : key_{static_cast<std::uint32_t>(seed),
             static_cast<std::uint32_t>(seed >> 32)},
        epoch_(epoch) {}

  bool At(int round, std::uint32_t element) {
    const std::uint32_t block =
        static_cast<std::uint32_t>(round) / kBitsPerBlock;
    if (element != element_ || block != block_) {
      static_assert(static_cast<std::uint32_t>(RandomStream::kOrder) == 0);
      words_ = Philox4x32(key_, {block, epoch_, element, 0});
      element_ = element;
      block_ = block;
    }
    const unsigned bit = static_cast<unsigned>(round) % kBitsPerBlock;
    return (words_[bit / 32] >> (bit % 32) & 1U) != 0;
  }

 private:
  std::array<std::uint32_t, 2> key_;
  std::uint32_t epoch_;
  std::array<std::uint32_t, 4> words_{};
  std::uint32_t element_ = 0;
  std::uint32_t block_ = ~0U;  // none yet
};

}  // namespace

std::int64_t EpochOrder::RecordAt(std::int64_t position) const {
  Check(position >= 0 && position < records_, "the position is in the epoch");
  std::uint32_t place = static_cast<std::uint32_t>(position);
  ElementBits bits(seed_, epoch_);
  const int rounds = static_cast<int>(round_keys_.size());
  for (int round = 0; round < rounds; ++round) {
    const std::uint32_t key = round_keys_[static_cast<std::size_t>(round)];
    // (key - place) mod records without a division, as both are below it.
    const std::uint32_t partner =
        key >= place ? key - place : key + (records_ - place);
    if (bits.At(round, std::max(place, partner))) {
      place = partner;
    }
  }
  return place;
}

SampleOrder::SampleOrder(std::int64_t records, Shuffle shuffle,
                         std::uint64_t seed)
    : records_(records), shuffle_(shuffle), seed_(seed) {
  Check(records > 0, "there is something to order");
  if (shuffle == Shuffle::kWindow || shuffle == Shuffle::kReference) {
    throw UsageError("this shuffle has no order yet");
  }
  if (records > kMaxRecords) {
    throw UsageError("the data set has " + std::to_string(records) +
                     " records, more than the " + std::to_string(kMaxRecords) +
                     " that one order can hold: give fewer shards");
  }
}

EpochOrder SampleOrder::Epoch(std::uint32_t epoch) const {
  EpochOrder order;
  order.records_ = static_cast<std::uint32_t>(records_);
  order.seed_ = seed_;
  order.epoch_ = epoch;
  switch (shuffle_) {
    case Shuffle::kNone:
    case Shuffle::kWindow:
    case Shuffle::kReference:
      break;
    case Shuffle::kGlobal: {
      SampleRandom keys({.seed = seed_, .epoch = epoch, .position = 0},
                        RandomStream::kOrder, kFirstKeyBlock);
      order.round_keys_.resize(
          static_cast<std::size_t>(RoundsFor(order.records_)));
      for (std::uint32_t& key : order.round_keys_) {
        key = keys.Below(order.records_);
      }
      break;
    }
  }
  return order;
}

std::int64_t SampleOrder::RecordAt(std::uint32_t epoch,
                                   std::int64_t position) const {
  return Epoch(epoch).RecordAt(position);
}

}  // namespace infeed
