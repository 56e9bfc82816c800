#include "tools/images/tree_union.h"

#include <string>
#include <vector>

#include "base/error.h"
#include "tests/support/image_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed::tree_union_test {

// "FOLDER/NAME:CLASS INDEX" of each image of a split.
std::vector<std::string> Images(const ImageSplit& split) {
  std::vector<std::string> images;
  for (const ImageFile& image : split.images) {
    const std::size_t name = image.path.rfind('/');
    images.push_back(image.path.substr(image.path.rfind('/', name - 1) + 1) +
                     ":" + std::to_string(image.class_index));
  }
  return images;
}

std::string UsageErrorOf(const std::vector<std::string>& folders) {
  return MessageOf<UsageError>([&] { (void)FindImagesIn(folders); });
}

TEST(TreeUnionTest, UnitesClassesByName) {
  ImageFolder first;
  ImageFolder second;
  first.Jpegs({"cat/2.jpg", "eel/1.jpg"}).File("class_names.txt", "eel Eel\n");
  second.Jpegs({"bat/9.jpg", "cat/1.jpg"}).File("class_names.txt", "cat Cat\n");
  const ImageTree tree = FindImagesIn({first.path(), second.path() + "//"});
  ASSERT_THAT(tree.classes, SizeIs(3));
  EXPECT_EQ(tree.classes[0].name, "bat");
  EXPECT_EQ(tree.classes[1].text, "Cat");
  EXPECT_EQ(tree.classes[2].text, "Eel");
  ASSERT_THAT(tree.splits, SizeIs(1));
  EXPECT_THAT(
      Images(tree.splits[0]),
      ElementsAre("bat/9.jpg:0", "cat/1.jpg:1", "cat/2.jpg:1", "eel/1.jpg:2"));
  EXPECT_EQ(Images(FindImagesIn({second.path(), first.path()}).splits[0]),
            Images(tree.splits[0]));
}

TEST(TreeUnionTest, UnitesSplitsByName) {
  ImageFolder first;
  ImageFolder second;
  first.Jpegs({"val/a/1.jpg", "test/a/1.jpg"}).Jpeg("x.jpg");
  second.Jpegs({"train/b/1.jpg", "validation/b/1.jpg", "old/x/1.jpg"});
  const ImageTree tree = FindImagesIn({first.path(), second.path()});
  ASSERT_THAT(tree.splits, SizeIs(3));
  EXPECT_EQ(tree.splits[0].name, "train");
  EXPECT_THAT(Images(tree.splits[1]), ElementsAre("a/1.jpg:0", "b/1.jpg:1"));
  EXPECT_TRUE(tree.has_split_folders);
  EXPECT_THAT(tree.notes, ElementsAre(HasSubstr("in no class folder"),
                                      HasSubstr("old: skipped")));
}

TEST(TreeUnionTest, AddsUpWhatIsLeftOut) {
  ImageFolder first;
  ImageFolder second;
  first.Jpegs({"a/1.jpg"}).File("a/2.gif", "x").File("a/3.gif", "x");
  second.Jpegs({"b/1.jpg"}).File("b/2.gif", "x");
  const ImageTree tree = FindImagesIn({first.path(), second.path()});
  ASSERT_THAT(tree.left_out, SizeIs(1));
  EXPECT_EQ(tree.left_out[0].count, 3);
  EXPECT_EQ(tree.left_out[0].example, first / "a/2.gif");
}

TEST(TreeUnionTest, RefusesTheSameFileTwiceAndNamesBoth) {
  ImageFolder first;
  ImageFolder second;
  first.Jpegs({"a/1.jpg", "a/2.jpg"});
  second.Jpegs({"a/2.jpg", "b/1.jpg"});
  EXPECT_THAT(UsageErrorOf({first.path(), second.path()}),
              AllOf(HasSubstr(first / "a/2.jpg"), HasSubstr(second / "a/2.jpg"),
                    HasSubstr("the same class and name")));
}

TEST(TreeUnionTest, RefusesTheSameFolderTwice) {
  ImageFolder raw;
  raw.Jpegs({"a/1.jpg"});
  EXPECT_THAT(UsageErrorOf({raw.path(), raw.path()}),
              HasSubstr("give its folder once"));
}

TEST(TreeUnionTest, TakesTheSameNameInAnotherSplit) {
  ImageFolder first;
  ImageFolder second;
  first.Jpegs({"train/a/1.jpg"});
  second.Jpegs({"val/a/1.jpg"});
  EXPECT_THAT(FindImagesIn({first.path(), second.path()}).splits, SizeIs(2));
}

TEST(TreeUnionTest, RefusesFoldersOfDifferentLayouts) {
  ImageFolder plain;
  ImageFolder divided;
  plain.Jpegs({"a/1.jpg"});
  divided.Jpegs({"train/a/2.jpg"});
  const auto expected =
      HasSubstr(divided.path() + " has train, validation or test folders, " +
                plain.path() + " plain class folders");
  EXPECT_THAT(UsageErrorOf({plain.path(), divided.path()}), expected);
  EXPECT_THAT(UsageErrorOf({divided.path(), plain.path()}), expected);
}

}  // namespace infeed::tree_union_test
