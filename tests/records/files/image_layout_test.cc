#include "records/files/image_layout.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "records/files/split_names.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed::image_layout_test {

using Texts = std::map<std::string, std::string>;

ImageLayout LayOut(const std::vector<std::string>& images,
                   const Texts& texts = {}) {
  TreeFiles files = {.root = "raw/", .read = [&](std::string_view path) {
                       return texts.at(std::string(path));
                     }};
  files.images.assign(images.begin(), images.end());
  for (const auto& [path, text] : texts) {
    files.others.push_back(path);
  }
  return LayOutImages(files);
}

// "SPLIT CLASS PATH" of each image.
std::vector<std::string> See(const std::vector<std::string>& images,
                             const Texts& texts = {}) {
  const ImageLayout layout = LayOut(images, texts);
  std::vector<std::string> seen;
  for (const LaidOutImage& image : layout.images) {
    seen.push_back(
        std::string(kSplits[static_cast<std::size_t>(image.split)]) + " " +
        (image.class_index < 0
             ? "-"
             : layout.classes.at(static_cast<std::size_t>(image.class_index))) +
        " " + images.at(image.file));
  }
  return seen;
}

std::string ErrorOf(const std::vector<std::string>& images,
                    const Texts& texts = {}) {
  return MessageOf<UsageError>([&] { (void)LayOut(images, texts); });
}

TEST(ImageLayoutTest, FoldersOfSplitsHaveAnyOfTheirNames) {
  EXPECT_THAT(
      See({"Training/a/1.jpg", "VALID/b/2.jpg", "testing/a/3.jpg"}),
      ElementsAre("train a Training/a/1.jpg", "validation b VALID/b/2.jpg",
                  "test a testing/a/3.jpg"));
  EXPECT_THAT(ErrorOf({"val/a/1.jpg", "dev/a/2.jpg", "train/a/3.jpg"}),
              HasSubstr("has both dev/ and val/, two names for validation"));
}

// Files of a folder that follow each other are taken together, others one by
// one.
TEST(ImageLayoutTest, TheOrderInWhichImagesAreListedDoesNotMatter) {
  const Texts labels = {{"r/val/val_annotations.txt", "1.png\tb\n2.png\ta\n"},
                        {"s/synset_labels.txt", "x\ny\nx\n"}};
  for (std::vector<std::string> images :
       {std::vector<std::string>{"a/1.jpg", "a/2.jpg", "a/b/1.jpg", "a/b/2.jpg",
                                 "a/c.jpg", "a/d.jpg", "b/1.jpg", "b/2.jpg"},
        {"train/a/1.jpg", "train/a/2.jpg", "train/loose.jpg", "train/m/1.jpg",
         "val/a/1.jpg", "val/a/2.jpg", "val/zz.jpg"},
        {"r/train/a/images/1.png", "r/train/a/images/2.png",
         "r/train/b/images/1.png", "r/val/images/1.png", "r/val/images/2.png"},
        {"s/train/x/1.jpg", "s/train/x/2.jpg", "s/train/y/1.jpg",
         "s/validation/1.jpg", "s/validation/2.jpg", "s/validation/3.jpg"},
        {"train/cat.0.jpg", "train/cat.1.jpg", "train/dog.0.jpg"},
        {"photos/1.jpg", "photos/2.jpg", "photos/3.jpg", "top1.jpg",
         "top2.jpg"}}) {
    const std::vector<std::string> in_order = See(images, labels);
    const std::vector<std::string> notes = LayOut(images, labels).notes;
    std::ranges::reverse(images);
    EXPECT_EQ(See(images, labels), in_order);
    EXPECT_EQ(LayOut(images, labels).notes, notes);
    std::ranges::rotate(images, images.begin() + 1);
    EXPECT_EQ(See(images, labels), in_order);
  }
}

TEST(ImageLayoutTest, NamesLikeThoseOfSplitsAreNoClasses) {
  for (const std::vector<std::string>& images :
       {std::vector<std::string>{"training_set/a/1.jpg", "test_set/a/2.jpg"},
        {"train/cat.0.jpg", "train/dog.0.jpg", "test1/1.jpg"},
        {"train2017/1.jpg", "val2017/2.jpg"},
        {"trainset/1.jpg", "testset/2.jpg"},
        {"TrainSet/a/1.jpg", "ValSet/a/2.jpg"},
        {"traindata/a/1.jpg", "testdata/a/2.jpg"},
        {"imagesTr/1.jpg", "imagesTs/2.jpg", "labelsTr/1.png"},
        {"trainA/1.jpg", "trainB/1.jpg", "testA/2.jpg", "testB/2.jpg"},
        {"seg_train/sea/1.jpg", "seg_test/sea/2.jpg", "seg_pred/3.jpg"}}) {
    EXPECT_THAT(ErrorOf(images), HasSubstr("/ seem to be splits: name them"));
  }
  EXPECT_THAT(
      LayOut({"bullet_train/1.jpg", "test_tube/2.jpg", "car/3.jpg"}).classes,
      ElementsAre("bullet_train", "car", "test_tube"));
}

TEST(ImageLayoutTest, ImagesAndTheirMasksAreNoClasses) {
  for (const std::vector<std::string>& images :
       {std::vector<std::string>{"images/1.jpg", "masks/1.png"},
        {"set/Images/1.jpg", "set/labels/a/1.png", "set/annotations/1.png"},
        {"train/img/1.jpg", "train/mask/1.png", "val/img/2.jpg"},
        {"JPEGImages/1.jpg", "SegmentationClass/1.png"}}) {
    EXPECT_THAT(ErrorOf(images), HasSubstr("/ seem to be images and their"));
  }
  EXPECT_THAT(LayOut({"images/1.jpg", "masks/1.png", "cat/1.png"}).classes,
              SizeIs(3));
}

TEST(ImageLayoutTest, ASplitInAFolderOfItsNameIsTheSplit) {
  EXPECT_THAT(See({"train/Training/a/1.jpg", "val/val/a/2.jpg"}),
              ElementsAre("train a train/Training/a/1.jpg",
                          "validation a val/val/a/2.jpg"));
  EXPECT_THAT(See({"train/train/cat.0.jpg", "test1/test1/1.jpg"}),
              ElementsAre("train cat train/train/cat.0.jpg"));
}

TEST(ImageLayoutTest, ASplitWithoutTheClassesOfTrainIsNoted) {
  EXPECT_THAT(LayOut({"train/a/1.jpg", "val/val_images/a/2.jpg"}).notes,
              ElementsAre("raw: 1 class of validation is not in train: "
                          "val_images"));
  EXPECT_THAT(LayOut({"train/a/1.jpg", "train/b/2.jpg", "val/a/3.jpg"}).notes,
              IsEmpty());
  EXPECT_THAT(LayOut({"val/a/1.jpg", "test/b/2.jpg"}).notes, IsEmpty());
}

TEST(ImageLayoutTest, ClassesThatTrainLacksAreNoted) {
  EXPECT_THAT(LayOut({"train/n1/1.jpg", "train/n2/2.jpg", "val/1.jpg",
                      "val/2.jpg", "test/n2/1.jpg"},
                     {{"synset_labels.txt", "n2\nn01\n"}})
                  .notes,
              ElementsAre("raw: 1 class of validation is not in train: n01"));
  EXPECT_THAT(
      LayOut({"train/a/1.jpg", "val/a/2.jpg", "val/b/3.jpg", "val/c/4.jpg",
              "val/d/5.jpg", "val/e/6.jpg", "test/a/7.jpg", "test/x/8.jpg"})
          .notes,
      ElementsAre("raw: 4 classes of validation are not in train: b, c, d, ...",
                  "raw: 1 class of test is not in train: x"));
}

TEST(ImageLayoutTest, HalfSortedImagesOfTinyImageNetAreRefused) {
  const std::vector<std::string> images = {
      "t/train/n1/images/1.JPEG", "t/val/images/2.JPEG", "t/val/n1/3.JPEG"};
  EXPECT_THAT(
      ErrorOf(images, {{"t/val/val_annotations.txt", "2.JPEG\tn1"}}),
      HasSubstr("raw/t/val/images/2.JPEG: an image beside class folders, with "
                "val_annotations.txt: sort all of them into class folders"));
  EXPECT_THAT(LayOut(images).classes, ElementsAre("images", "n1"));
  EXPECT_THAT(LayOut({"train/images/images/1.jpg", "train/images/n/2.jpg",
                      "val/n/3.jpg"},
                     {{"val/val_annotations.txt", ""}})
                  .classes,
              ElementsAre("images", "n"));
}

TEST(ImageLayoutTest, HalfSortedImagesOfImageNetAreRefused) {
  const std::vector<std::string> images = {
      "train/n1/1.JPEG", "validation/2.JPEG", "validation/n1/3.JPEG"};
  for (const char* labels : {"n1\n", "n1\nn1\n"}) {
    EXPECT_THAT(ErrorOf(images, {{"synset_labels.txt", labels}}),
                HasSubstr("raw/validation/2.JPEG: an image beside class "
                          "folders, with synset_labels.txt: sort all"));
  }
  EXPECT_THAT(LayOut(images).notes,
              ElementsAre("raw/validation: skipped 1 file in no class folder"));
}

TEST(ImageLayoutTest, UnpackedSamplesAreNoClasses) {
  EXPECT_THAT(ErrorOf({"train-0000/1.jpg"}, {{"train-0000/1.cls", "3"}}),
              HasSubstr("raw/train-0000/1.cls: labels in .cls files are read"));
}

TEST(ImageLayoutTest, AFolderAroundSplitsMayBeNamedAsOne) {
  EXPECT_THAT(See({"test/train/a/1.jpg", "test/val/a/2.jpg"}),
              ElementsAre("train a test/train/a/1.jpg",
                          "validation a test/val/a/2.jpg"));
  EXPECT_THAT(See({"test/a/1.jpg", "test/b/2.jpg"}),
              ElementsAre("test a test/a/1.jpg", "test b test/b/2.jpg"));
}

TEST(ImageLayoutTest, FoldersInsideAClassBelongToIt) {
  EXPECT_THAT(See({"train/cat/black/old/1.jpg", "train/cat/2.jpg",
                   "train/dog/x/3.jpg"}),
              ElementsAre("train cat train/cat/2.jpg",
                          "train cat train/cat/black/old/1.jpg",
                          "train dog train/dog/x/3.jpg"));
  EXPECT_THAT(See({"cat/black/1.jpg", "dog/2.jpg"}),
              ElementsAre("train cat cat/black/1.jpg", "train dog dog/2.jpg"));
}

TEST(ImageLayoutTest, TinyImageNetIsReadAsDownloaded) {
  const std::vector<std::string> images = {
      "tiny/train/n1/images/n1_0.JPEG", "tiny/train/n2/images/n2_0.JPEG",
      "tiny/val/images/val_0.JPEG", "tiny/val/images/val_1.JPEG",
      "tiny/test/images/test_0.JPEG"};
  const Texts texts = {
      {"tiny/train/n1/n1_boxes.txt", ""},
      {"tiny/val/val_annotations.txt",
       "val_1.JPEG\tn1\t0\t0\t9\t9\r\nval_0.JPEG\tn2\t0\t0\t9\t9\r\n"}};
  EXPECT_THAT(See(images, texts),
              ElementsAre("train n1 tiny/train/n1/images/n1_0.JPEG",
                          "train n2 tiny/train/n2/images/n2_0.JPEG",
                          "validation n2 tiny/val/images/val_0.JPEG",
                          "validation n1 tiny/val/images/val_1.JPEG"));
  EXPECT_THAT(LayOut(images, texts).notes,
              ElementsAre("raw/tiny/test: skipped, its images are in no class "
                          "folders"));
  EXPECT_THAT(MessageOf<DataError>([&] {
                (void)LayOut(images, {{"tiny/val/val_annotations.txt",
                                       "val_1.JPEG\tn1"}});
              }),
              HasSubstr("val_annotations.txt: has no line for val_0.JPEG"));
  EXPECT_THAT(MessageOf<DataError>([&] {
                (void)LayOut(
                    images,
                    {{"tiny/val/val_annotations.txt",
                      "val_1.JPEG\tn1\nval_0.JPEG\tn2\nval_1.JPEG\tn2"}});
              }),
              HasSubstr("val_annotations.txt: has two lines for val_1.JPEG"));
}

TEST(ImageLayoutTest, AFolderOfImagesIsNoClass) {
  const std::string error =
      ErrorOf({"train/images/1.jpg", "valid/images/2.jpg"});
  EXPECT_THAT(error, AllOf(HasSubstr("raw/train: its images are in no class"),
                           HasSubstr("SPLIT/<class>/*"),
                           HasSubstr("val_annotations.txt")));
  EXPECT_THAT(ErrorOf({"images/train/1.jpg", "images/val/2.jpg"}),
              HasSubstr("raw/images/train: its images are in no class"));
  EXPECT_THAT(See({"train/images/cat/1.jpg", "train/images/dog/2.jpg"}),
              ElementsAre("train cat train/images/cat/1.jpg",
                          "train dog train/images/dog/2.jpg"));
  EXPECT_THAT(See({"train/images/1.jpg", "train/cat/2.jpg"}),
              ElementsAre("train cat train/cat/2.jpg",
                          "train images train/images/1.jpg"));
}

TEST(ImageLayoutTest, SplitsAreOutsideOfClasses) {
  EXPECT_THAT(ErrorOf({"cat/train/1.jpg", "cat/val/2.jpg", "dog/train/3.jpg"}),
              HasSubstr("splits are inside the class folders"));
}

TEST(ImageLayoutTest, LabelFilesNameTheClassesOfAFlatSplit) {
  const std::vector<std::string> images = {"train/n2/x.jpg", "val/v2.jpg",
                                           "val/v1.jpg"};
  EXPECT_THAT(See(images, {{"synset_labels.txt", "\xEF\xBB\xBFn3\r\nn2\r\n"}}),
              ElementsAre("train n2 train/n2/x.jpg", "validation n3 val/v1.jpg",
                          "validation n2 val/v2.jpg"));
  EXPECT_THAT(MessageOf<DataError>([&] {
                (void)LayOut(images, {{"synset_labels.txt", "n3"}});
              }),
              HasSubstr("has 1 lines, but raw/val has 2 images"));
  EXPECT_THAT(ErrorOf(images), HasSubstr("raw/val: its images are in no"));
}

TEST(ImageLayoutTest, FlatNamesMaySayTheClass) {
  EXPECT_THAT(
      See({"train/dog.0.jpg", "train/cat.10.jpg", "train/cat.2.jpg",
           "test/1.jpg"}),
      ElementsAre("train cat train/cat.10.jpg", "train cat train/cat.2.jpg",
                  "train dog train/dog.0.jpg"));
  EXPECT_THAT(See({"cat.0.jpg", "dog.1.jpg"}),
              ElementsAre("train cat cat.0.jpg", "train dog dog.1.jpg"));
  for (const std::string name :
       {"cat.jpg", "cat.x.jpg", "cat..jpg", "2024.01.jpg", "cat.1.2.jpg",
        "cat.1.jpg.jpg", "cat.-1.jpg"}) {
    EXPECT_THAT(LayOut({name, "dog.1.png"}).classes, IsEmpty()) << name;
    EXPECT_THAT(ErrorOf({"train/" + name, "train/dog.1.png"}),
                HasSubstr("no class folders"))
        << name;
  }
  // Words are no classes beside folders that are.
  EXPECT_THAT(LayOut({"train/a/1.jpg", "train/cat.1.jpg"}).classes,
              ElementsAre("a"));
}

TEST(ImageLayoutTest, AClassMayBeNamedAsASplit) {
  EXPECT_THAT(See({"boat/1.jpg", "train/2.jpg"}),
              ElementsAre("train boat boat/1.jpg", "train train train/2.jpg"));
}

TEST(ImageLayoutTest, WhatIsBesideSplitsAndClassesIsLeftOutWithANote) {
  const ImageLayout layout =
      LayOut({"train/cat/1.jpg", "train/2.jpg", "extra/cat/3.jpg", "logo.png"});
  EXPECT_EQ(layout.images.size(), 1);
  EXPECT_THAT(
      layout.notes,
      ElementsAre("raw: skipped 1 file in no class folder",
                  "raw/extra: skipped, neither train, validation nor test",
                  "raw/train: skipped 1 file in no class folder"));
}

TEST(ImageLayoutTest, TheFolderThatAllShareIsTheClassWhereThereIsNoOther) {
  EXPECT_THAT(
      See({"set/cat/1.jpg", "set/cat/2.jpg"}),
      ElementsAre("train cat set/cat/1.jpg", "train cat set/cat/2.jpg"));
  EXPECT_THAT(See({"1.jpg", "2.jpg"}),
              ElementsAre("train - 1.jpg", "train - 2.jpg"));
  EXPECT_THAT(See({"images/1.jpg"}), ElementsAre("train - images/1.jpg"));
}

TEST(ImageLayoutTest, NamesOfClassesAreOneLine) {
  for (const char* image : {"new\nl/1.jpg", "tab\t/1.jpg", "\x1B[31m/1.jpg"}) {
    EXPECT_THAT(MessageOf<DataError>([&] {
                  (void)LayOut({image, "b/2.jpg"});
                }),
                HasSubstr("control character: rename the class"));
  }
}

TEST(ImageLayoutTest, NamesOfClassesAreText) {
  EXPECT_THAT(
      LayOut({"k\xE4se/1.jpg", "cafe\xCC\x81/2.jpg", "caf\xC3\xA9/3.jpg"})
          .classes,
      ElementsAre("caf\xC3\xA9", "k\\xe4se"));
}

}  // namespace infeed::image_layout_test
