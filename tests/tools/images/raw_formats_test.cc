#include "tools/images/raw_formats.h"

#include <string>
#include <vector>

#include "base/error.h"
#include "tests/support/image_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/raw_bytes.h"
#include "tests/support/throws.h"
#include "tools/images/duplicates.h"
#include "tools/images/raw_images.h"

namespace infeed::raw_formats_test {

constexpr std::size_t kXlaJlBytes = std::size_t{3} * 224 * 224;

// The red values of an image's first two rows' first two pixels.
std::vector<int> Corner(const ImageTree& tree, const ImageFile& file) {
  RgbImage image;
  tree.raw->Read(file, image);
  return {image.row(0)[0], image.row(0)[3], image.row(1)[0], image.row(1)[3]};
}

template <typename Error = DataError>
std::string ErrorOf(const ImageFolder& raw, RawFormat format) {
  return MessageOf<Error>([&] { (void)FindRawImages(raw.path(), format); });
}

TEST(RawFormatsTest, FindsMnist) {
  ImageFolder raw;
  raw.File("train-images-idx3-ubyte", IdxBytes({2, 2, 2}, Counting(8)))
      .File("train-labels-idx1-ubyte", IdxBytes({2}, {"\7\0", 2}))
      .File("t10k-images.idx3-ubyte.gz",
            Gzipped(IdxBytes({1, 2, 2}, Counting(4, 100))))
      .File("t10k-labels.idx1-ubyte.gz", Gzipped(IdxBytes({1}, "\3")))
      .File("class_names.txt", "7 seven\n");
  const ImageTree tree = FindRawImages(raw.path(), RawFormat::kIdx);
  ASSERT_THAT(tree.classes, SizeIs(10));
  EXPECT_EQ(tree.classes[0].name, "0");
  EXPECT_EQ(tree.classes[7].text, "seven");
  ASSERT_THAT(tree.splits, SizeIs(2));
  EXPECT_THAT(Images(tree.splits[0], raw),
              ElementsAre("train-images-idx3-ubyte#00000:7",
                          "train-images-idx3-ubyte#00001:0"));
  EXPECT_EQ(tree.splits[1].name, "test");
  EXPECT_THAT(Images(tree.splits[1], raw),
              ElementsAre("t10k-images.idx3-ubyte.gz#00000:3"));
  EXPECT_TRUE(tree.has_split_folders);
  EXPECT_EQ(tree.splits[0].images[1].bytes, 4);
  EXPECT_THAT(Corner(tree, tree.splits[0].images[1]), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(Corner(tree, tree.splits[1].images[0]),
              ElementsAre(100, 101, 102, 103));
}

TEST(RawFormatsTest, NamesManyIdxClassesSoThatTheySort) {
  ImageFolder raw;
  raw.File("train-images-idx3-ubyte", IdxBytes({1, 1, 1}, "a"))
      .File("train-labels-idx1-ubyte", IdxBytes({1}, "\x19"));
  const ImageTree tree = FindRawImages(raw.path(), RawFormat::kIdx);
  ASSERT_THAT(tree.classes, SizeIs(26));
  EXPECT_EQ(tree.classes[3].name, "03");
  EXPECT_FALSE(tree.has_split_folders);
}

TEST(RawFormatsTest, RefusesIdxFilesThatDoNotGoTogether) {
  ImageFolder raw;
  raw.File("train-images-idx3-ubyte", IdxBytes({2, 1, 1}, "ab"));
  EXPECT_THAT(ErrorOf<UsageError>(raw, RawFormat::kIdx),
              HasSubstr("train-labels-idx1-ubyte is missing beside it"));
  raw.File("train-labels-idx1-ubyte", IdxBytes({1}, "a"));
  EXPECT_THAT(ErrorOf(raw, RawFormat::kIdx),
              AllOf(HasSubstr("train-labels-idx1-ubyte: has 1 labels, but "),
                    EndsWith("train-images-idx3-ubyte has 2 images")));
  raw.File("train-images-idx3-ubyte",
           IdxBytes({1, 1, 70000}, std::string(70000, 'x')));
  EXPECT_THAT(ErrorOf(raw, RawFormat::kIdx),
              HasSubstr("images of 70000x1 pixels are over the limit"));
}

TEST(RawFormatsTest, FindsCifar10) {
  ImageFolder raw;
  raw.File("data_batch_1.bin", CifarRecord(2) + CifarRecord(0, 1))
      .File("data_batch_3.bin", CifarRecord(1, 2))
      .File("test_batch.bin", CifarRecord(2, 3))
      .File("batches.meta.txt", "airplane\nautomobile\nbird\n\n");
  const ImageTree tree = FindRawImages(raw.path(), RawFormat::kCifar10);
  ASSERT_THAT(tree.classes, SizeIs(3));
  EXPECT_EQ(tree.classes[2].name, "bird");
  ASSERT_THAT(tree.splits, SizeIs(2));
  EXPECT_THAT(
      Images(tree.splits[0], raw),
      ElementsAre("data_batch_1.bin#00000:2", "data_batch_1.bin#00001:0",
                  "data_batch_3.bin#00000:1"));
  EXPECT_THAT(Images(tree.splits[1], raw),
              ElementsAre("test_batch.bin#00000:2"));
  EXPECT_THAT(Corner(tree, tree.splits[0].images[1]),
              ElementsAre(1, 2, 33, 34));
  EXPECT_THAT(Corner(tree, tree.splits[1].images[0]),
              ElementsAre(3, 4, 35, 36));
  EXPECT_THAT(tree.notes,
              ElementsAre(EndsWith("data_batch_2.bin: is not there"),
                          EndsWith("data_batch_4.bin: is not there"),
                          EndsWith("data_batch_5.bin: is not there")));
}

TEST(RawFormatsTest, KeepsCifarLabelsWhateverTheNames) {
  ImageFolder raw;
  raw.File("data_batch_1.bin", CifarRecord(1));
  const ImageTree unnamed = FindRawImages(raw.path(), RawFormat::kCifar10);
  EXPECT_THAT(unnamed.classes, SizeIs(10));
  EXPECT_THAT(unnamed.notes.front(), HasSubstr("classes are called 0 to 9"));
  raw.File("batches.meta.txt", "zebra\nant\n");
  const ImageTree unsorted = FindRawImages(raw.path(), RawFormat::kCifar10);
  ASSERT_THAT(unsorted.classes, SizeIs(2));
  EXPECT_EQ(unsorted.classes[1].name, "1");
  EXPECT_EQ(unsorted.classes[1].text, "ant");
}

TEST(RawFormatsTest, RefusesCifarFilesThatDoNotFit) {
  ImageFolder raw;
  raw.File("data_batch_1.bin", CifarRecord(1) + "x");
  EXPECT_THAT(
      ErrorOf(raw, RawFormat::kCifar10),
      HasSubstr("data_batch_1.bin: has 3074 bytes; expected records of 3073"));
  raw.File("data_batch_1.bin", CifarRecord(9) + CifarRecord(10));
  EXPECT_THAT(ErrorOf(raw, RawFormat::kCifar10),
              HasSubstr("record 1 at byte 3073: label 10 is not in 0 to 9"));
  raw.File("data_batch_1.bin", "");
  EXPECT_THAT(ErrorOf(raw, RawFormat::kCifar10), HasSubstr("has 0 bytes"));
}

TEST(RawFormatsTest, FindsXlaJl) {
  ImageFolder raw;
  raw.File("X_train.raw", Counting(2 * kXlaJlBytes))
      .File("Y_train.raw", {"\2\0\3\0", 4})
      .File("X_val.raw", Counting(kXlaJlBytes, 7))
      .File("Y_val.raw", {"\1\0", 2});
  const ImageTree tree = FindRawImages(raw.path(), RawFormat::kXlaJl);
  ASSERT_THAT(tree.classes, SizeIs(3));
  EXPECT_EQ(tree.classes[2].name, "0003");
  EXPECT_THAT(Images(tree.splits[0], raw),
              ElementsAre("X_train.raw#00000:1", "X_train.raw#00001:2"));
  EXPECT_EQ(tree.splits[1].name, "validation");
  EXPECT_THAT(Corner(tree, tree.splits[0].images[0]),
              ElementsAre(0, 224, 1, 225));
  EXPECT_THAT(Corner(tree, tree.splits[1].images[0]),
              ElementsAre(7, 231, 8, 232));
}

TEST(RawFormatsTest, RefusesXlaJlFilesThatDoNotFit) {
  ImageFolder raw;
  raw.File("X_train.raw", Counting(kXlaJlBytes));
  EXPECT_THAT(ErrorOf<UsageError>(raw, RawFormat::kXlaJl),
              EndsWith("X_train.raw: Y_train.raw is missing beside it"));
  raw.File("Y_train.raw", "abc");
  EXPECT_THAT(ErrorOf(raw, RawFormat::kXlaJl),
              HasSubstr("Y_train.raw: has 3 bytes; expected two for each"));
  raw.File("Y_train.raw", {"\1\0\1\0", 4});
  EXPECT_THAT(ErrorOf(raw, RawFormat::kXlaJl),
              AllOf(HasSubstr("X_train.raw: has 150528 bytes, 1.00 images of 3 "
                              "x 224 x 224; the 2 labels in "),
                    HasSubstr("Y_train.raw ask for 301056: make both files")));
  raw.File("Y_train.raw", {"\0\0", 2});
  EXPECT_THAT(ErrorOf(raw, RawFormat::kXlaJl),
              HasSubstr("Y_train.raw: record 0 at byte 0: label 0 is none"));
  raw.File("Y_train.raw", "\xe9\3");
  EXPECT_THAT(ErrorOf(raw, RawFormat::kXlaJl), HasSubstr("label 1001 is none"));
}

TEST(RawFormatsTest, SaysWhichFilesItExpects) {
  const ImageFolder raw;
  EXPECT_THAT(ErrorOf<UsageError>(raw, RawFormat::kXlaJl),
              HasSubstr("X_train.raw and Y_train.raw"));
  EXPECT_THAT(ErrorOf<UsageError>(raw, RawFormat::kIdx),
              HasSubstr("train-images-idx3-ubyte"));
  EXPECT_THAT(ErrorOf<UsageError>(raw, RawFormat::kCifar10),
              HasSubstr("data_batch_1.bin"));
}

TEST(RawFormatsTest, HasDuplicatesByTheirPixels) {
  ImageFolder raw;
  raw.File("data_batch_1.bin",
           CifarRecord(1) + CifarRecord(2, 5) + CifarRecord(3));
  const std::vector<DuplicateGroup> groups =
      FindDuplicates(FindRawImages(raw.path(), RawFormat::kCifar10), 2);
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_THAT(groups[0].images, SizeIs(2));
  EXPECT_THAT(groups[0].images[1].path, EndsWith("data_batch_1.bin#00002"));
}

}  // namespace infeed::raw_formats_test
