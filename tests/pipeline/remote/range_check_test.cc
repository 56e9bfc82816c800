#include "pipeline/remote/range_check.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pipeline/order/label_class.h"
#include "tests/support/matchers.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"

namespace infeed::range_check_test {

const std::vector<SlotRequest> kSlots = {{0, 17, 5}, {0, 18, 3}, {1, 2, 9}};

InputOptions OptionsOf(const RecordIndex& index) {
  InputOptions options = SmallTraining();
  options.on_bad_record = OnBadRecord::kSkip;
  return ResolvedOptions(CheckedInputOptions(options), index);
}

// What a check of kSlots says of a worker that filled these slots.
std::optional<std::string> Difference(
    const RecordIndex& index, const std::vector<SlotRequest>& filled,
    const std::function<bool()>& is_cancelled = [] { return false; }) {
  const InputOptions options = OptionsOf(index);
  InputOptions of_worker = options;
  of_worker.layout = BatchContent::kRgb;
  const RecordStore store(index);
  const SeekStore seek_store(index);
  RangeFiller filler(store, seek_store, of_worker);
  const auto range = std::make_shared<FilledRange>(filler.options(), 3);
  EXPECT_TRUE(filler.Fill(
      filled, [] { return false; }, *range));
  const std::vector<RpcPiece> reply = FillReplyOf(range, {});
  std::vector<std::span<const std::byte>> pieces;
  for (const RpcPiece& piece : reply) {
    pieces.push_back(piece.bytes);
  }
  const FilledSlots slots(options, 3, pieces, true);
  RangeCheck check(store, seek_store, options, 3);
  return check.Difference(kSlots, slots, is_cancelled);
}

TEST(RangeCheckTest, EqualSlotsDoNotDiffer) {
  EXPECT_EQ(Difference(SharedIndex(), kSlots), "");
}

TEST(RangeCheckTest, ADifferenceHasItsPlace) {
  std::vector<SlotRequest> others = kSlots;
  others[1].record = 4;
  EXPECT_THAT(Difference(SharedIndex(), others),
              Optional(StartsWith("epoch 0, position 18, record 3: ")));
  others = kSlots;
  others[2].position = 3;
  EXPECT_THAT(Difference(SharedIndex(), others),
              Optional(StartsWith("epoch 1, position 2, record 9: ")));
}

TEST(RangeCheckTest, DeclinedSlotsAreNotCompared) {
  TestShards shards(TestPayloads(22));
  shards.Damage(3);
  std::vector<SlotRequest> others = kSlots;
  others[1].record = 4;  // Here it is declined.
  EXPECT_EQ(Difference(shards.index(), others), "");
  others = kSlots;
  others[0].record = 3;  // There it is declined.
  EXPECT_EQ(Difference(shards.index(), others), "");
}

TEST(RangeCheckTest, IsCancelledBetweenTwoSlots) {
  int asked = 0;
  EXPECT_EQ(Difference(SharedIndex(), kSlots, [&] { return ++asked == 2; }),
            std::nullopt);
  EXPECT_EQ(asked, 2);
}

TEST(RangeCheckTest, OneOfAsManyRangesIsChosen) {
  int chosen = 0;
  for (std::uint32_t epoch = 0; epoch < 4; ++epoch) {
    for (std::int64_t position = 0; position < 160000; position += 16) {
      const SlotRequest slot{epoch, position, 0};
      EXPECT_FALSE(RangeCheck::IsChosen({&slot, 1}, 0));
      EXPECT_TRUE(RangeCheck::IsChosen({&slot, 1}, 1));
      chosen += RangeCheck::IsChosen({&slot, 1}, 100) ? 1 : 0;
    }
  }
  EXPECT_GT(chosen, 300);  // Of 40,000.
  EXPECT_LT(chosen, 500);
}

}  // namespace infeed::range_check_test
