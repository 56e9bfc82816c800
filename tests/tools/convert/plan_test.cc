#include "tools/convert/plan.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tests/support/image_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

// A tree with so many images of one class in train and in validation.
ImageTree Tree(int train, int validation) {
  ImageTree tree;
  tree.classes = {{"a", "a"}};
  for (const auto& [name, count] :
       {std::pair("train", train), std::pair("validation", validation)}) {
    if (count == 0) {
      continue;  // As FindImages() does.
    }
    tree.splits.push_back({name, {}});
    for (int i = 0; i < count; ++i) {
      tree.splits.back().images.push_back({std::to_string(i), 0, 1});
    }
  }
  return tree;
}

std::vector<std::string> Paths(const PlannedSplit& split) {
  std::vector<std::string> paths;
  for (const ImageFile& image : split.images) {
    paths.push_back(image.path);
  }
  return paths;
}

TEST(ConversionPlanTest, ShufflesTrainAsPythonDoesAndNothingElse) {
  const ConversionPlan plan = PlanConversion(Tree(5, 5), {});
  EXPECT_THAT(Paths(plan.splits[0]), ElementsAre("2", "1", "0", "4", "3"));
  EXPECT_THAT(Paths(plan.splits[1]), ElementsAre("0", "1", "2", "3", "4"));
  EXPECT_NE(Paths(PlanConversion(Tree(20, 0), {.seed = 1}).splits[0]),
            Paths(PlanConversion(Tree(20, 0), {.seed = 2}).splits[0]));
}

TEST(ConversionPlanTest, RefusesClassesThatNoLabelsFileCanHold) {
  ImageTree tree = Tree(1, 0);
  tree.classes = {{"a\nb", "a"}};
  EXPECT_THAT(MessageOf<DataError>([&] { (void)PlanConversion(tree, {}); }),
              HasSubstr("the name of class \"a\\nb\" has a newline"));
  tree.classes = {{"a", "tail\x7f"}};
  EXPECT_THAT(MessageOf<DataError>([&] { (void)PlanConversion(tree, {}); }),
              HasSubstr("control character"));
  tree.classes.assign(100'001, {"a", "a"});
  EXPECT_THAT(MessageOf<DataError>([&] { (void)PlanConversion(tree, {}); }),
              HasSubstr("100001 classes; at most 100000"));
}

TEST(ConversionPlanTest, NamesBalancedShards) {
  const ConversionPlan plan = PlanConversion(Tree(5, 2), {.shards = 2});
  ASSERT_THAT(plan.splits[0].shards, SizeIs(2));
  EXPECT_EQ(plan.splits[0].shards[1].name, "train-00001-of-00002");
  EXPECT_EQ(plan.splits[0].shards[1].first, 3);
  EXPECT_EQ(plan.splits[0].shards[1].count, 2);
  EXPECT_EQ(plan.splits[1].shards[0].name, "validation-00000-of-00002");
  EXPECT_EQ(plan.images(), 7);
  EXPECT_EQ(plan.shards(), 4);
}

TEST(ConversionPlanTest, NamesTheReferencesShards) {
  const ConversionPlan plan =
      PlanConversion(Tree(5, 2), {.layout = ShardLayout::kReference});
  ASSERT_THAT(plan.splits[0].shards, SizeIs(1024));
  ASSERT_THAT(plan.splits[1].shards, SizeIs(128));
  EXPECT_EQ(plan.splits[0].shards[3].name, "train/train-00003-of-01024");
  EXPECT_EQ(plan.splits[1].shards[0].name,
            "validation/validation-00000-of-00128");
}

TEST(ConversionPlanTest, RefusesCountsThatDoNotFitInAName) {
  for (const std::int64_t shards : {std::int64_t{-1}, std::int64_t{100000}}) {
    EXPECT_THAT(MessageOf<UsageError>([&] {
                  (void)PlanConversion(Tree(5, 2), {.shards = shards});
                }),
                HasSubstr("give 1 to 99999"));
  }
}

TEST(ConversionPlanTest, FindsShardsOfAnotherPlan) {
  ImageFolder out;
  out.File("train-00000-of-00002", "").File("train-00000-of-00003", "");
  out.File("train/train-00000-of-00002", "").File("train-notes.txt", "");
  out.File("other-00000-of-00001", "").File("labels.txt", "");
  const ConversionPlan plan = PlanConversion(Tree(5, 0), {.shards = 2});
  EXPECT_THAT(StaleShards(plan, out.path()),
              ElementsAre(out / "train-00000-of-00003",
                          out / "train/train-00000-of-00002"));
  EXPECT_THAT(StaleShards(plan, out / "new"), IsEmpty());
}

// Each image of the tree has one byte.
TEST(ConversionPlanTest, MakesShardsOfASize) {
  EXPECT_THAT(
      PlanConversion(Tree(100, 0), {.shard_bytes = 30}).splits[0].shards,
      SizeIs(4));
  const ConversionPlan packed =
      PlanConversion(Tree(100, 0), {.shard_bytes = 30, .record_bytes = 15});
  EXPECT_THAT(packed.splits[0].shards, SizeIs(50));
  EXPECT_EQ(packed.splits[0].bytes, 1500);
}

TEST(ConversionPlanTest, RefusesASizeThatGivesTooManyShards) {
  EXPECT_THAT([] { (void)PlanConversion(Tree(100001, 0), {.shard_bytes = 1}); },
              ::testing::ThrowsMessage<UsageError>(
                  HasSubstr("this size gives 100001 shards")));
}

}  // namespace
}  // namespace infeed
