#include "tools/images/data_split.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

using ::testing::UnorderedElementsAreArray;

// A tree of plain class folders with so many images each.
ImageTree Tree(const std::vector<int>& class_sizes) {
  ImageTree tree;
  tree.splits.push_back({"train", {}});
  for (std::size_t c = 0; c < class_sizes.size(); ++c) {
    const std::string name = "class" + std::to_string(c);
    tree.classes.push_back({name, name});
    for (int i = 0; i < class_sizes[c]; ++i) {
      tree.splits[0].images.push_back({name + "/" + std::to_string(i) + ".jpg",
                                       static_cast<std::int32_t>(c), 1});
    }
  }
  return tree;
}

std::vector<std::size_t> Sizes(const ImageTree& tree) {
  std::vector<std::size_t> sizes;
  for (const ImageSplit& split : tree.splits) {
    sizes.push_back(split.images.size());
  }
  return sizes;
}

std::vector<std::string> Paths(const ImageSplit& split) {
  std::vector<std::string> paths;
  for (const ImageFile& image : split.images) {
    paths.push_back(image.path);
  }
  return paths;
}

TEST(DataSplitTest, ParsesTwoOrThreeFractions) {
  EXPECT_THAT(ParseSplit("0.9/0.1"), ElementsAre(DoubleEq(0.9), DoubleEq(0.1)));
  EXPECT_THAT(ParseSplit("0.8/0.1/0.1"),
              ElementsAre(DoubleEq(0.8), DoubleEq(0.1), DoubleEq(0.1)));
  EXPECT_EQ(ParseSplit("reference"), ParseSplit("0.8/0.1/0.1"));
}

TEST(DataSplitTest, RefusesWhatIsNoSplit) {
  for (const char* text :
       {"", "1", "0.9", "0.9/0.2", "0.9/", "/0.1", "0.9/0.1x", "0.9,0.1",
        "1.5/-0.5", "1/0", "nan/nan", "0.7/0.1/0.1/0.1"}) {
    EXPECT_THAT(MessageOf<UsageError>([&] { (void)ParseSplit(text); }),
                HasSubstr("0.8/0.1/0.1"))
        << text;
  }
}

// How many images of each class a split has.
std::vector<int> ClassSizes(const ImageSplit& split, std::size_t classes) {
  std::vector<int> sizes(classes);
  for (const ImageFile& image : split.images) {
    ++sizes[static_cast<std::size_t>(image.class_index)];
  }
  return sizes;
}

// The flowers of the ResNet-50 on TPU guide: 2,934, 364 and 372 images.
TEST(DataSplitTest, GivesTheFlowersTheirPublishedSizes) {
  ImageTree tree = Tree({633, 898, 641, 699, 799});
  SplitTree(ParseSplit("reference"), tree);
  EXPECT_THAT(ClassSizes(tree.splits[0], 5),
              ElementsAre(506, 718, 512, 559, 639));
  EXPECT_THAT(ClassSizes(tree.splits[1], 5), ElementsAre(63, 89, 64, 69, 79));
  EXPECT_THAT(ClassSizes(tree.splits[2], 5), ElementsAre(64, 91, 65, 71, 81));
  EXPECT_THAT(Sizes(tree), ElementsAre(2934, 364, 372));
  EXPECT_EQ(tree.splits[1].name, "validation");
  EXPECT_EQ(tree.splits[2].name, "test");
}

TEST(DataSplitTest, InexactFractionsGiveExactCounts) {
  ImageTree tree = Tree({10});
  SplitTree({0.7, 0.2, 0.1}, tree);
  EXPECT_THAT(Sizes(tree), ElementsAre(7, 2, 1));
}

TEST(DataSplitTest, GivesTrainOneImageOfEachClass) {
  ImageTree tree = Tree({1, 2});
  SplitTree({0.1, 0.9}, tree);
  EXPECT_THAT(Sizes(tree), ElementsAre(2, 1));
  EXPECT_EQ(tree.splits[0].images[0].class_index, 0);
  EXPECT_EQ(tree.splits[0].images[1].class_index, 1);
}

TEST(DataSplitTest, LeavesOutAPartWithoutImages) {
  ImageTree tree = Tree({1, 1});
  SplitTree({0.9, 0.1}, tree);
  EXPECT_THAT(Sizes(tree), ElementsAre(2));
  EXPECT_THAT(tree.notes, ElementsAre(HasSubstr("validation: no images")));
}

TEST(DataSplitTest, KeepsEveryImageOnceAndGoesByNoOrderOfNames) {
  ImageTree tree = Tree({50});
  const std::vector<std::string> sorted = Paths(tree.splits[0]);
  SplitTree({0.5, 0.5}, tree);
  std::vector<std::string> all = Paths(tree.splits[0]);
  EXPECT_FALSE(std::equal(all.begin(), all.end(), sorted.begin()));
  std::ranges::move(Paths(tree.splits[1]), std::back_inserter(all));
  EXPECT_THAT(all, UnorderedElementsAreArray(sorted));
}

TEST(DataSplitTest, StaysMostlyAsItWasWhenImagesCome) {
  ImageTree before = Tree({100});
  ImageTree after = Tree({110});
  SplitTree({0.8, 0.2}, before);
  SplitTree({0.8, 0.2}, after);
  const std::vector<std::string> old_train = Paths(before.splits[0]);
  const std::vector<std::string> new_test = Paths(after.splits[1]);
  const auto moved = std::count_if(
      old_train.begin(), old_train.end(), [&](const std::string& path) {
        return std::find(new_test.begin(), new_test.end(), path) !=
               new_test.end();
      });
  EXPECT_LE(moved, 10);
}

// The name counts, not the folders before it: a data set may be moved.
TEST(DataSplitTest, DoesNotGoByTheFolder) {
  ImageTree tree = Tree({60});
  ImageTree moved = Tree({60});
  for (ImageFile& image : moved.splits[0].images) {
    image.path = "/elsewhere/" + image.path;
  }
  SplitTree({0.5, 0.5}, tree);
  SplitTree({0.5, 0.5}, moved);
  for (std::size_t i = 0; i < tree.splits[0].images.size(); ++i) {
    EXPECT_EQ(moved.splits[0].images[i].path,
              "/elsewhere/" + tree.splits[0].images[i].path);
  }
}

TEST(DataSplitTest, KeepsTheTreesOrderWithinAPart) {
  ImageTree tree = Tree({20, 20});
  std::reverse(tree.splits[0].images.begin(), tree.splits[0].images.end());
  SplitTree({0.5, 0.5}, tree);
  for (const ImageSplit& split : tree.splits) {
    EXPECT_EQ(split.images.front().class_index, 1);
    EXPECT_EQ(split.images.back().class_index, 0);
  }
}

TEST(DataSplitTest, RefusesATreeThatIsDivided) {
  ImageTree tree = Tree({10});
  tree.has_split_folders = true;
  EXPECT_THAT(MessageOf<UsageError>([&] {
                SplitTree({0.9, 0.1}, tree);
              }),
              HasSubstr("leave the flag out"));
}

}  // namespace
}  // namespace infeed
