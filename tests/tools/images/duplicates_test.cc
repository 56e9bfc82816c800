#include "tools/images/duplicates.h"

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/support/image_folder.h"
#include "tests/support/matchers.h"

namespace infeed {
namespace {

// "FOLDER/NAME" of each image of a group, in a folder.
std::vector<std::string> Names(const DuplicateGroup& group,
                               const ImageFolder& raw) {
  std::vector<std::string> names;
  for (const DuplicateGroup::Image& image : group.images) {
    names.push_back(image.path.substr(raw.path().size() + 1));
  }
  return names;
}

DuplicateGroup Group(const std::string& class_name, const std::string& split) {
  return {{{"1.jpg", "cat", "train"}, {"2.jpg", class_name, split}}};
}

TEST(DuplicatesTest, FindsEachGroupInTheOrderOfTheTree) {
  ImageFolder raw;
  raw.File("a/1.jpg", "long content").File("a/2.jpg", "x");
  raw.File("b/1.jpg", "y").File("b/2.jpg", "x").File("b/3.jpg", "x");
  raw.File("c/1.jpg", "LONG content").File("c/2.jpg", "long content");
  const std::vector<DuplicateGroup> groups =
      FindDuplicates(FindImages(raw.path()), 2);
  ASSERT_THAT(groups, SizeIs(2));
  EXPECT_THAT(Names(groups[0], raw), ElementsAre("a/1.jpg", "c/2.jpg"));
  EXPECT_THAT(Names(groups[1], raw),
              ElementsAre("a/2.jpg", "b/2.jpg", "b/3.jpg"));
  EXPECT_EQ(groups[1].images[0].class_name, "a");
  EXPECT_EQ(groups[1].images[1].class_name, "b");
}

TEST(DuplicatesTest, ComparesMoreThanOneBuffer) {
  ImageFolder raw;
  std::string big((std::size_t{1} << 20) + 5, 'x');
  raw.File("a/1.jpg", big).File("a/2.jpg", big);
  big.back() = 'y';
  raw.File("a/3.jpg", big);
  const std::vector<DuplicateGroup> groups =
      FindDuplicates(FindImages(raw.path()), 1);
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_THAT(Names(groups[0], raw), ElementsAre("a/1.jpg", "a/2.jpg"));
}

TEST(DuplicatesTest, FindsThemAcrossSplits) {
  ImageFolder raw;
  raw.File("train/a/1.jpg", "x").File("test/a/9.jpg", "x");
  const std::vector<DuplicateGroup> groups =
      FindDuplicates(FindImages(raw.path()), 1);
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_EQ(groups[0].images[1].split, "test");
  EXPECT_TRUE(SplitsDiffer(groups[0]));
  EXPECT_FALSE(ClassesDiffer(groups[0]));
}

TEST(DuplicatesTest, NeverOpensAFileOfAnOddSize) {
  ImageTree tree;
  tree.classes.push_back({"a", "a"});
  tree.splits.push_back({"train", {{"/none/1", 0, 1}, {"/none/2", 0, 2}}});
  EXPECT_THAT(FindDuplicates(tree, 1), IsEmpty());
  tree.splits[0].images[0].bytes = 2;
  EXPECT_THROW((void)FindDuplicates(tree, 1), IoError);
}

TEST(DuplicatesTest, WarnsOfWhatDiffers) {
  EXPECT_THAT(DuplicateWarnings({Group("cat", "train")}), IsEmpty());
  EXPECT_THAT(
      DuplicateWarnings({Group("dog", "train"), Group("dog", "test")}),
      ElementsAre(HasSubstr("2 groups of images with the same content have "
                            "different classes"),
                  HasSubstr("1 group of images with the same content lie in "
                            "several splits")));
}

TEST(DuplicatesTest, SaysWhatIsWrongAboutAGroup) {
  EXPECT_THAT(DuplicatesText({Group("cat", "train")}),
              AllOf(HasSubstr("2 images have the same content:\n"
                              "  1.jpg (class cat, train)\n"),
                    HasSubstr("1 group of duplicates: 0 of different classes, "
                              "0 in several splits")));
  EXPECT_THAT(DuplicatesText({Group("dog", "train")}),
              HasSubstr("same content, but different classes:"));
  EXPECT_THAT(DuplicatesText({Group("cat", "test")}),
              AllOf(HasSubstr("same content, and lie in several splits:"),
                    Not(HasSubstr("but different"))));
  EXPECT_THAT(DuplicatesText({}), HasSubstr("no duplicates"));
}

}  // namespace
}  // namespace infeed
