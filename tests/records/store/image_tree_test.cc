#include "records/store/image_tree.h"

#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/support/image_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed::tree_test {

std::vector<std::string> ClassNames(const ImageTree& tree) {
  std::vector<std::string> names;
  for (const ImageClass& image_class : tree.classes) {
    names.push_back(image_class.name);
  }
  return names;
}

template <typename Error>
std::string MessageFor(const std::string& path) {
  return MessageOf<Error>([&] { (void)FindImages(path); });
}

TEST(ImageTreeTest, TakesPlainClassFoldersAsTrain) {
  ImageFolder raw;
  raw.Jpegs({"dog/b.jpg", "cat/a.jpg", "cat/c.jpg"});
  const ImageTree tree = FindImages(raw.path());
  EXPECT_THAT(ClassNames(tree), ElementsAre("cat", "dog"));
  ASSERT_THAT(tree.splits, SizeIs(1));
  EXPECT_EQ(tree.splits[0].name, "train");
  EXPECT_THAT(Images(tree.splits[0], raw),
              ElementsAre("cat/a.jpg:0", "cat/c.jpg:0", "dog/b.jpg:1"));
  EXPECT_FALSE(tree.has_split_folders);
}

TEST(ImageTreeTest, RefusesAnEmptyLineInALabelFile) {
  ImageFolder raw;
  raw.Jpegs({"validation/1.jpg", "validation/2.jpg"})
      .File("synset_labels.txt", "a\n\nb\n");
  EXPECT_THAT(MessageFor<DataError>(raw.path()), HasSubstr("line 2 is empty"));
}

TEST(ImageTreeTest, TakesAnyExtensionInAnyCase) {
  ImageFolder raw;
  raw.Jpegs({"a/1.JPG", "a/2.jpeg", "a/3.Png", "a/4.webp", "a/5.BMP",
             "a/6.tiff", "a/7.ppm", "a/8.jp2", "a/9.PBM", "a/10.pam"});
  EXPECT_THAT(FindImages(raw.path()).splits[0].images, SizeIs(10));
}

// "KIND FORMAT COUNT EXAMPLE", the example within the raw folder.
std::vector<std::string> LeftOutOf(const ImageTree& tree,
                                   const ImageFolder& raw) {
  std::vector<std::string> lines;
  for (const LeftOut& left_out : tree.left_out) {
    lines.push_back(std::to_string(static_cast<int>(left_out.kind)) + " " +
                    left_out.format + " " + std::to_string(left_out.count) +
                    " " + left_out.example.substr(raw.path().size() + 1));
  }
  return lines;
}

TEST(ImageTreeTest, CountsWhatItLeavesOutByKindAndFormat) {
  ImageFolder raw;
  raw.Jpeg("a/1.jpg").File("a/notes.txt", "x").File("a/.2.gif", "x");
  raw.File("a/gif", "x").File("a/2.GIF", "x").File("b/3.gif", "x");
  raw.File("a/4.heic", "x")
      .File("b/5.avif", "x")
      .Folder("a/more")
      .Jpeg("b/1.jpg");
  raw.Folder("empty").Folder(".git");
  const ImageTree tree = FindImages(raw.path());
  EXPECT_THAT(ClassNames(tree), ElementsAre("a", "b"));
  EXPECT_THAT(tree.splits[0].images, SizeIs(2));
  EXPECT_THAT(tree.notes,
              ElementsAre(HasSubstr("a/more: skipped, no images in it"),
                          HasSubstr("empty: skipped, no images in it")));
  EXPECT_THAT(LeftOutOf(tree, raw),
              ElementsAre("0 AVIF 1 b/5.avif", "0 GIF 2 a/2.GIF",
                          "0 HEIC 1 a/4.heic", "1  3 a/.2.gif"));
}

TEST(ImageTreeTest, LabelFilesThatWereReadAreNotLeftOut) {
  ImageFolder raw;
  raw.Jpegs({"train/n1/images/1.jpg", "val/images/2.jpg"})
      .File("val/val_annotations.txt", "2.jpg\tn1\n")
      .File("train/n1/n1_boxes.txt", "1.jpg\t0\t0\t9\t9\n");
  EXPECT_THAT(LeftOutOf(FindImages(raw.path()), raw),
              ElementsAre("1  1 train/n1/n1_boxes.txt"));
}

TEST(ImageTreeTest, SortsPathsBytewise) {
  ImageFolder raw;
  raw.Jpegs({"b/1.jpg", "b-c/1.jpg", "B/1.jpg", "b/10.jpg", "b/2.jpg"});
  const ImageTree tree = FindImages(raw.path());
  EXPECT_THAT(ClassNames(tree), ElementsAre("B", "b", "b-c"));
  EXPECT_THAT(Images(tree.splits[0], raw),
              ElementsAre("B/1.jpg:0", "b-c/1.jpg:2", "b/1.jpg:1", "b/10.jpg:1",
                          "b/2.jpg:1"));
}

TEST(ImageTreeTest, ATabEndsTheClassAndAnyBytesAreText) {
  ImageFolder raw;
  raw.Jpegs({"golden retriever/1.jpg", "k\xE4se/1.jpg", "n1/1.jpg"})
      .File("class_names.txt",
            "\xEF\xBB\xBFgolden retriever\tGolden Retriever\r\n"
            "k\xE4se\tK\xE4se\r\nn1 a tench\r\n");
  const ImageTree tree = FindImages(raw.path());
  EXPECT_EQ(tree.classes[0].text, "Golden Retriever");
  EXPECT_EQ(tree.classes[1].name, "k\\xe4se");
  EXPECT_EQ(tree.classes[1].text, "K\\xe4se");
  EXPECT_EQ(tree.classes[2].text, "a tench");
}

TEST(ImageTreeTest, SaysWhichLayoutsThereAreAndWhyNoneFits) {
  ImageFolder gifs;
  gifs.File("a/1.gif", "x");
  EXPECT_THAT(MessageFor<UsageError>(gifs.path()),
              AllOf(HasSubstr("no images found"),
                    HasSubstr("a/1.gif: GIF images cannot be read: convert")));
  ImageFolder raw;
  EXPECT_THAT(MessageFor<UsageError>(raw.path()),
              AllOf(HasSubstr("no images found"), HasSubstr("<class>/*.jpg")));
  raw.File("data/train.parquet", "x");
  EXPECT_THAT(MessageFor<UsageError>(raw.path()),
              HasSubstr("/data has Parquet files: `infeed convert "));
  raw.Jpeg("1.jpg");
  EXPECT_THAT(
      MessageFor<UsageError>(raw.path()),
      AllOf(HasSubstr("images directly in it"), Not(HasSubstr("parquet"))));
}

TEST(ImageTreeTest, NamesTheFlagThatReadsOtherLayouts) {
  for (const auto& [file, flag] :
       {std::pair{"labels.csv", "--manifest FILE"},
        {"_annotations.coco.json", "--coco FILE"},
        {"instances_train2017.json", "--coco FILE"},
        {"data.yaml", "--yolo"},
        {"labels/1.txt", "--yolo"},
        {"1.xml", "--voc"},
        {"train-images-idx3-ubyte.gz", "--raw_format idx"},
        {"data_batch_1.bin", "--raw_format cifar10"}}) {
    const std::string hint = std::string(file) + ": ";
    for (const std::string image : {"1.jpg", "images/1.jpg"}) {
      ImageFolder raw;
      raw.Jpeg(image).File(file, "x");
      EXPECT_THAT(MessageFor<UsageError>(raw.path()),
                  AllOf(HasSubstr("no images found"), HasSubstr(hint),
                        HasSubstr(std::string("imagenet_to_records ") + flag)));
    }
    ImageFolder raw;
    raw.Jpegs({"train/1.jpg", "train/2.jpg", "val/3.jpg"}).File(file, "x");
    EXPECT_THAT(MessageFor<UsageError>(raw.path()),
                AllOf(HasSubstr("in no class folders"), HasSubstr(flag)));
  }
}

TEST(ImageTreeTest, NamesWhatIsMissing) {
  ImageFolder raw;
  raw.Jpeg("a/1.jpg");
  std::filesystem::create_symlink(raw / "gone", raw / "a/2.jpg");
  EXPECT_THAT(MessageFor<IoError>(raw.path()), HasSubstr("2.jpg: cannot read"));
  // Read directly, it is a bad record.
  EXPECT_THAT(FindImageTree(raw.path())->splits[0].images, SizeIs(2));
  EXPECT_THAT(MessageFor<IoError>(raw / "nowhere"),
              AllOf(HasSubstr("nowhere: cannot list"),
                    HasSubstr("No such file or directory")));
}

TEST(ImageTreeTest, NamesAFolderThatMayNotBeRead) {
  if (::geteuid() == 0) {
    GTEST_SKIP() << "root may read everything";
  }
  ImageFolder raw;
  raw.Jpeg("a/1.jpg");
  std::filesystem::permissions(raw / "a", std::filesystem::perms::none);
  EXPECT_THAT(MessageFor<IoError>(raw.path()),
              HasSubstr("a: cannot list: Permission denied"));
  std::filesystem::permissions(raw / "a", std::filesystem::perms::owner_all);
}

TEST(ImageTreeTest, NamesLinksThatItDoesNotFollowAgain) {
  ImageFolder raw;
  raw.Jpegs({"a/1.jpg", "b/2.jpg"});
  std::filesystem::create_directory_symlink("..", raw / "a/up");
  const ImageTree tree = FindImages(raw.path());
  EXPECT_THAT(tree.splits[0].images, SizeIs(2));
  EXPECT_THAT(tree.notes, ElementsAre(HasSubstr("a/up: not followed")));
}

}  // namespace infeed::tree_test
