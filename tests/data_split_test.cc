#include "tools/data_split.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

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
}

TEST(DataSplitTest, RefusesWhatIsNoSplit) {
  for (const char* text :
       {"", "1", "0.9", "0.9/0.2", "0.9/", "/0.1", "0.9/0.1x", "0.9,0.1",
        "1.5/-0.5", "1/0", "nan/nan", "0.7/0.1/0.1/0.1"}) {
    try {
      (void)ParseSplit(text);
      ADD_FAILURE() << text << " was taken";
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr("0.8/0.1/0.1")) << text;
    }
  }
}

// The flowers of the ResNet-50 on TPU guide: 2,934, 364 and 372 images.
TEST(DataSplitTest, GivesTheFlowersTheirPublishedSizes) {
  ImageTree tree = Tree({633, 898, 641, 699, 799});
  SplitTree({0.8, 0.1, 0.1}, tree);
  EXPECT_THAT(Sizes(tree), ElementsAre(2934, 364, 372));
  EXPECT_EQ(tree.splits[1].name, "validation");
  EXPECT_EQ(tree.splits[2].name, "test");
}

TEST(DataSplitTest, IsNotFooledByInexactFractions) {
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

TEST(DataSplitTest, KeepsEveryImageOnceAndSorted) {
  ImageTree tree = Tree({20, 30});
  SplitTree({0.5, 0.5}, tree);
  std::vector<std::string> all;
  for (const ImageSplit& split : tree.splits) {
    const std::vector<std::string> paths = Paths(split);
    EXPECT_TRUE(std::is_sorted(paths.begin(), paths.end()));
    all.insert(all.end(), paths.begin(), paths.end());
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::unique(all.begin(), all.end()), all.end());
  EXPECT_EQ(all.size(), 50U);
}

TEST(DataSplitTest, DoesNotGoByTheOrderOfNames) {
  ImageTree tree = Tree({100});
  const std::vector<std::string> sorted = Paths(tree.splits[0]);
  SplitTree({0.5, 0.5}, tree);
  const std::vector<std::string> train = Paths(tree.splits[0]);
  EXPECT_FALSE(std::equal(train.begin(), train.end(), sorted.begin()));
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
        return std::binary_search(new_test.begin(), new_test.end(), path);
      });
  EXPECT_LE(moved, 10);
}

TEST(DataSplitTest, RefusesATreeThatIsDivided) {
  ImageTree tree = Tree({10});
  tree.has_split_folders = true;
  try {
    SplitTree({0.9, 0.1}, tree);
    FAIL() << "it was divided again";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("leave the flag out"));
  }
}

}  // namespace
}  // namespace infeed
