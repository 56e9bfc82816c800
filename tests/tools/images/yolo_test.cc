#include "tools/images/yolo.h"

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tests/support/image_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"
#include "tests/tools/images/annotated_image.h"

namespace infeed::yolo_test {

// Image a with labels, b without.
class YoloTest : public ::testing::Test {
 protected:
  YoloTest() { raw_.Jpegs({"images/a.jpg", "images/b.jpg"}); }

  ImageTree Read(const std::string& labels,
                 const AnnotationOptions& options = {}) {
    raw_.File("labels/a.txt", labels);
    return ReadYolo(raw_.path(), options);
  }
  const std::vector<AnnotatedObject>& Objects(const std::string& labels) {
    tree_ = Read(labels);
    return tree_.splits[0].images[0].objects->objects;
  }
  // "SPLIT: PATH" of each image.
  std::vector<std::string> Splits() {
    tree_ = Read("");
    std::vector<std::string> images;
    for (const ImageSplit& split : tree_.splits) {
      for (const ImageFile& image : split.images) {
        images.push_back(split.name + ": " +
                         image.path.substr(raw_.path().size() + 1));
      }
    }
    return images;
  }

  ImageFolder raw_;
  ImageTree tree_;
};

// The bits are those of Ultralytics' xywhn2xyxy() in float32.
TEST_F(YoloTest, ReadsBoxesAndImagesWithoutObjects) {
  const auto& objects = Objects("2 0.3 0.7 0.123 0.456\n0 0.5 0.5 0.25 0.5\n");
  EXPECT_THAT(Labels(tree_.splits[0], raw_),
              ElementsAre("images/a.jpg: 3 1", "images/b.jpg:"));
  EXPECT_EQ(objects[0].text, "2");
  EXPECT_THAT(BitsOf(objects[0]),
              ElementsAre(0x3e743959, 0x3ef1a9fc, 0x3eb91688, 0x3f6d9168));
  EXPECT_THAT(objects[1].box, ElementsAre(0.375F, 0.25F, 0.625F, 0.75F));
  EXPECT_THAT(tree_.notes, Contains("--yolo: 2 objects in 1 of 2 images"));
}

TEST_F(YoloTest, TakesThePolygonsHullAndEqualLinesOnce) {
  const auto& objects = Objects(
      "1 0.25 0.5 0.75 0.25 0.5 1.01\n\n0 0.5 0.5 0.25 0.5\r\n"
      "0 0.5 0.5 0.25 0.5\n");
  ASSERT_THAT(objects, SizeIs(2));
  EXPECT_THAT(objects[0].box, ElementsAre(0.25F, 0.25F, 0.75F, 1.01F));
  EXPECT_EQ(objects[1].label, 1);
}

// Five numbers and four key points of two could be a polygon of six points.
TEST_F(YoloTest, KeyPointsAreLeftOut) {
  const char* const box = "0 0.5 0.5 0.25 0.5";
  for (const auto& [shape, points] :
       {std::pair{"[4, 2]", " 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8\n"},
        {"[1, 3]", " 0.1 0.2 2\n"}}) {
    raw_.File("data.yaml",
              std::string("names: [person]\nkpt_shape: ") + shape + "\n");
    const auto& objects = Objects(std::string(box) + points);
    ASSERT_THAT(objects, SizeIs(1));
    EXPECT_THAT(objects[0].box, ElementsAre(0.375F, 0.25F, 0.625F, 0.75F));
  }
  EXPECT_THAT(MessageOf<DataError>([&] { (void)Read(box); }),
              HasSubstr("line 1: has 5 numbers, expected 8 (a class, a box"));
  raw_.File("data.yaml", "names: [person]\nkpt_shape: [4, 4]\n");
  EXPECT_THAT(MessageOf<DataError>([&] { (void)Read(box); }),
              HasSubstr("data.yaml: kpt_shape: expected [number of key"));
}

TEST_F(YoloTest, LinesThatMayHaveKeyPointsAreRefusedWithoutDataYaml) {
  const std::string line = "0 0.5 0.5 0.25 0.5 0.4 0.3 0 0 0.6 0.7 0.4 0.7\n";
  for (const std::string& text :
       {line, line + "1 0.2 0.3 0.2 0.2 0.2 0.3 0.2 0.3 0.2 0.3 0.2 0.3\n",
        std::string("0 0.5 0.5 0.2 0.2 0.5 0.5 1 0 0 0 0.5 0.5 1 0 0 0\n")}) {
    EXPECT_THAT(
        MessageOf<UsageError>([&] { (void)Read(text); }),
        AllOf(HasSubstr(" numbers, which may be a polygon, or a box with key "
                        "points, and the folder has no data.yaml"),
              HasSubstr("--kpt_shape none")))
        << text;
  }
  EXPECT_THAT(MessageOf<UsageError>([&] { (void)Read(line + line); }),
              HasSubstr(raw_.path() + ": all 2 lines have 13 numbers"));
  const auto box = [&](std::size_t key_point_numbers) {
    return Read(line, {.key_point_numbers = key_point_numbers})
        .splits[0]
        .images[0]
        .objects->objects[0]
        .box;
  };
  EXPECT_THAT(box(8), ElementsAre(0.375F, 0.25F, 0.625F, 0.75F));
  EXPECT_THAT(box(0), ElementsAre(0, 0, 0.6F, 0.7F));
  raw_.File("data.yaml", "names: [person]\n");  // no pose data set
  EXPECT_THAT(Objects(line)[0].box, ElementsAre(0, 0, 0.6F, 0.7F));
}

TEST_F(YoloTest, OtherPolygonsNeedNoDataYaml) {
  for (const std::string text :
       {"0 0.2 0.2 0.8 0.2 0.8 0.8 0.2 0.8\n",  // of four points
        "0 0.5 0.5 0.25 0.5 0.9 0.9\n",         // not in the box
        "0 0.9 0.5 0.25 0.4 0.9 0.5\n",         // the box is not in the image
        "0 0.5 0.5 0.25 0.5\n0 0.5 0.5 0.25 0.5 0.5 0.5\n"}) {
    EXPECT_FALSE(Objects(text).empty()) << text;
  }
}

TEST_F(YoloTest, LeavesOutEmptyBoxes) {
  const ImageTree tree = Read("0 0.5 0.5 0 0.5\n", {});
  EXPECT_THAT(Labels(tree.splits[0], raw_),
              ElementsAre("images/a.jpg:", "images/b.jpg:"));
  EXPECT_THAT(tree.notes, Contains("--yolo: 0 objects in 0 of 2 images; left "
                                   "out: 1 empty box"));
}

TEST_F(YoloTest, TakesNamesFromThreeKindsOfFiles) {
  const auto name_with = [&](const std::string& file, const std::string& text) {
    raw_.File(file, text);
    return Objects("1 0.5 0.5 0.25 0.5\n").front().text;
  };
  EXPECT_EQ(name_with("labels/classes.txt", "cat\nowl\n"), "owl");
  EXPECT_EQ(name_with("classes.txt", "cat\ndog\n"), "dog");
  EXPECT_EQ(name_with("data.yaml", "nc: 2\nnames: ['cat', 'cow']\n"), "cow");
  EXPECT_EQ(name_with("data.yaml", "names:\n  0: cat\n  1: hen\n"), "hen");
  EXPECT_THAT(tree_.classes, SizeIs(2));
  raw_.File("names.txt", "a\nb\n");
  EXPECT_EQ(Read("1 0.5 0.5 0.2 0.2\n", {.class_list = raw_ / "names.txt"})
                .splits[0]
                .images[0]
                .objects->objects[0]
                .text,
            "b");
}

TEST_F(YoloTest, AYamlOfAnotherNameCountsWithoutADataYaml) {
  raw_.File("hyp.yaml", "lr: 0.1\n")
      .File("coco8.yaml", "names: [cat, dog]\ntrain: images/a.jpg.txt\n");
  EXPECT_EQ(Objects("1 0.5 0.5 0.25 0.5\n").front().text, "dog");
  EXPECT_THAT(tree_.notes, Contains(HasSubstr("coco8.yaml: train: there are")));
  raw_.File("more.yml", "names: [owl]\n");
  EXPECT_THAT(MessageOf<UsageError>([&] { (void)Read(""); }),
              HasSubstr("/coco8.yaml and more.yml describe the data set"));
  raw_.File("Data.yaml", "names: [hen, cow]\n");
  EXPECT_EQ(Objects("1 0.5 0.5 0.25 0.5\n").front().text, "cow");
}

TEST_F(YoloTest, ABrokenYamlIsAnErrorOnlyIfItWouldDescribeTheData) {
  raw_.File(".ci.yaml", "")
      .File("hyp.yaml", "lr: [0.1\nx")
      .File("classes.txt", "cat\ndog\n");
  EXPECT_EQ(Objects("1 0.5 0.5 0.25 0.5\n").front().text, "dog");
  EXPECT_THAT(tree_.notes, Contains("--yolo: " + raw_ / "hyp.yaml" +
                                    " is ignored: line 2: not YAML"));
  raw_.File("coco8.yaml", "path: .\nnames: [cat, dog]]\n");
  EXPECT_THAT(MessageOf<DataError>([&] { (void)Read(""); }),
              HasSubstr("coco8.yaml: line 2: not YAML"));
}

// As CVAT exports "YOLO 1.1".
TEST_F(YoloTest, TakesTheNamesAndListsOfDarknet) {
  ImageFolder raw;
  raw.Jpegs({"obj_Train_data/a.jpg", "obj_Validation_data/b.jpg"})
      .File("obj_Train_data/a.txt", "1 0.5 0.5 0.25 0.5\n")
      .File("obj.data", "classes = 2\nnames = data/obj.names\n")
      .File("obj.names", "cat\nowl\n")
      .File("Train.txt", "data/obj_Train_data/a.jpg\n")
      .File("Validation.txt", "data/obj_Validation_data/b.jpg\n");
  const ImageTree tree = ReadYolo(raw.path(), {});
  ASSERT_THAT(tree.splits, SizeIs(2));
  EXPECT_EQ(tree.splits[0].images[0].objects->objects[0].text, "owl");
  EXPECT_EQ(tree.splits[1].name, "validation");
}

TEST_F(YoloTest, SaysThatNamesAreNumbers) {
  EXPECT_EQ(Objects("1 0.5 0.5 0.25 0.5\n").front().text, "1");
  EXPECT_THAT(tree_.notes, Contains(HasSubstr("classes are their numbers")));
}

TEST_F(YoloTest, TakesSplitsInAndAroundTheFolders) {
  raw_.Jpegs({"images/train/1.jpg", "valid/images/2.jpg"})
      .File("labels/train/1.txt", "0 0.5 0.5 0.25 0.5\n")
      .File("valid/labels/2.txt", "4 0.5 0.5 0.25 0.5\n");
  const ImageTree tree = ReadYolo(raw_.path(), {.drop_empty = true});
  ASSERT_THAT(tree.splits, SizeIs(2));
  EXPECT_THAT(Labels(tree.splits[0], raw_),
              ElementsAre("images/train/1.jpg: 1"));
  EXPECT_EQ(tree.splits[1].name, "validation");
  EXPECT_THAT(Labels(tree.splits[1], raw_),
              ElementsAre("valid/images/2.jpg: 5"));
}

TEST_F(YoloTest, NumberedNamesOfSplitsAreSplits) {
  raw_.Jpegs({"images/train2017/1.jpg", "images/val2017/2.jpg"});
  EXPECT_THAT(Splits(),
              ElementsAre("train: images/a.jpg", "train: images/b.jpg",
                          "train: images/train2017/1.jpg",
                          "validation: images/val2017/2.jpg"));
}

// coco128 has images/train2017 only, which --split may divide.
TEST_F(YoloTest, TrainWithANumberAloneIsNotDivided) {
  raw_.Jpeg("images/train2017/1.jpg").File("labels/train2017/1.txt", "");
  EXPECT_FALSE(Read("").has_split_folders);
  raw_.File("data.yaml", "names: [p]\ntrain: images/train2017\n");
  EXPECT_FALSE(Read("").has_split_folders);
}

TEST_F(YoloTest, FoldersThatSeemToBeSplitsAreRefused) {
  const auto message = [](const std::vector<std::string>& images) {
    ImageFolder raw;
    raw.Jpegs(images).File("images/trainA/1.txt", "");
    return MessageOf<UsageError>([&] { (void)ReadYolo(raw.path(), {}); });
  };
  EXPECT_THAT(message({"images/trainA/1.jpg", "images/valA/2.jpg"}),
              HasSubstr("the folders trainA/ and valA/ seem to be splits: name "
                        "them train, validation or test"));
  EXPECT_THAT(message({"train/1.jpg", "my_testing/2.jpg"}),
              HasSubstr("the folders train/ and my_testing/ seem to be"));
  EXPECT_THAT(message({"images/1.jpg", "test_tube/2.jpg"}),
              HasSubstr("no image has a label file"));
}

TEST_F(YoloTest, DataYamlDecidesOnSplits) {
  raw_.Jpegs({"images/trainA/1.jpg", "images/valA/2.jpg", "test/images/3.jpg"})
      .File("labels/valA/2.txt", "");
  const auto splits = [&](const std::string& entries) {
    raw_.File("data.yaml", "names: [p]\n" + entries);
    return Splits();
  };
  const auto swapped =
      ElementsAre("train: images/valA/2.jpg", "validation: images/trainA/1.jpg",
                  "test: test/images/3.jpg");
  for (const char* const entries :
       {"train: images/valA\nval: images/trainA\n",
        "path: ../datasets/p\ntrain: [./images/valA/]\nval: images/trainA\n"
        "test: ''\n",
        "path: /content/p\ntrain: images/valA\nvalid: [images/trainA]\n",
        "path: D:\\p\ntrain: ../images/valA\ntest:\nval: "
        "C:\\d\\p\\images\\trainA\n"}) {
    EXPECT_THAT(splits(entries), swapped) << entries;
    EXPECT_THAT(tree_.notes, Contains("--yolo: 2 images left out, as no split "
                                      "names them"));
  }
  EXPECT_THAT(
      splits("train: images\nval: /p/valid/\n"),
      ElementsAre("train: images/a.jpg", "train: images/b.jpg",
                  "train: images/trainA/1.jpg", "train: images/valA/2.jpg",
                  "test: test/images/3.jpg"));
  EXPECT_THAT(tree_.notes,
              Contains("--yolo: " + raw_ / "data.yaml" +
                       ": val: there are no images of /p/valid/ here"));
  EXPECT_THAT(
      MessageOf<UsageError>([&] { splits("train: images\nval: images\n"); }),
      HasSubstr("data.yaml: val names images/a.jpg, which train has already: "
                "name each image in one split"));
  EXPECT_THAT(
      MessageOf<DataError>([&] { splits("train: images\nval: {a: b}\n"); }),
      HasSubstr("data.yaml: line 3: val: expected a folder, a .txt list, or"));
}

TEST_F(YoloTest, ListsOfImagesDecideOnSplits) {
  raw_.Jpegs({"images/c.jpg"}).File("lists/v.txt", "./../images/b.jpg\n");
  raw_.File("train.txt", "./images/a.jpg\n\nC:\\x\\images\\c.jpg\n");
  const auto divided = ElementsAre("train: images/a.jpg", "train: images/c.jpg",
                                   "validation: images/b.jpg");
  raw_.File("data.yaml", "names: [p]\ntrain: train.txt\nval: lists/v.txt\n");
  EXPECT_THAT(Splits(), divided);
  raw_.File("data.yaml", "names: [p]\n");
  raw_.File("valid.txt", "/content/data/images/b.jpg\n");
  EXPECT_THAT(Splits(), divided);
  raw_.File("valid.txt", "data/images/b.jpg\ndata/images/d.jpg\n");
  EXPECT_THAT(MessageOf<DataError>([&] { (void)Splits(); }),
              HasSubstr("valid.txt: line 2: there is no image "
                        "data/images/d.jpg: remove the line"));
}

TEST_F(YoloTest, ReadsDataYamlInSubfoldersAndRefusesOthers) {
  for (const std::string set : {"ya", "yb"}) {
    raw_.Jpeg(set + "/one/" + set + ".jpg")
        .File(set + "/one/" + set + ".txt", "1 0.5 0.5 0.25 0.5\n")
        .File(set + "/data.yaml", "names: [cat, dog]\nval: one\n");
  }
  EXPECT_EQ(Objects("0 0.5 0.5 0.25 0.5\n").front().text, "cat");
  EXPECT_THAT(
      Splits(),
      ElementsAre("train: images/a.jpg", "train: images/b.jpg",
                  "validation: ya/one/ya.jpg", "validation: yb/one/yb.jpg"));
  raw_.File("yb/data.yaml", "names: [dog, cat]\n");
  EXPECT_THAT(MessageOf<DataError>([&] { (void)Splits(); }),
              HasSubstr(raw_ / "yb/data.yaml" +
                        ": has other names or another kpt_shape than " +
                        raw_ / "ya/data.yaml" + ": convert their folders"));
}

TEST_F(YoloTest, NamesFileAndLineOfWhatIsWrong) {
  for (const auto& [labels, says] :
       {std::pair{"0 0.5 0.5 0.25 0.5\n0 0.5 0.5 0.25\n",
                  "labels/a.txt: line 2: has 4 numbers, expected 5"},
        {"0 0.5 0.5 0.25 0.5 0.9\n", "line 1: has 6 numbers"},
        {"0 0.5 0.5 0.25 0.5 0.9 0.1 0.3\n", "line 1: has 8 numbers"},
        {"cat 0.5 0.5 0.25 0.5\n", "line 1: not a number: 'cat'"},
        {"0 0.5 0.5 0.25 1.02\n", "line 1: a coordinate is not in 0 to 1"},
        {"0 0.5 -0.5 0.25 0.5\n", "a coordinate is not in 0 to 1"},
        {"0 nan 0.5 0.25 0.5\n", "a coordinate is not in 0 to 1"},
        {"1.5 0.5 0.5 0.25 0.5\n", "the class is not a whole number from 0"},
        {"-1 0.5 0.5 0.25 0.5\n", "the class is not a whole number"}}) {
    EXPECT_THAT(MessageOf<DataError>([&] { (void)Read(labels); }),
                HasSubstr(says))
        << labels;
  }
  const char* const good = "2 0.5 0.5 0.25 0.5\n";
  raw_.File("classes.txt", "cat\ndog\n");
  EXPECT_THAT(
      MessageOf<DataError>([&] { (void)Read(good); }),
      HasSubstr("a.txt: there is no name of class 2 among the 2 classes"));
  for (const auto& [yaml, says] :
       {std::pair{"nc: 2\nnames: [a, b]]\n", "data.yaml: line 2: not YAML"},
        {"nc: 2\nnames: [\n  a,\n  [b]]\n",
         "data.yaml: line 4: names: expected a list of names, or a map from "
         "numbers to names"},
        {"names:\n  0: a\n  one: b\n", "data.yaml: line 3: names: expected "},
        {"nc: 2\n", "data.yaml: has no names"}}) {
    raw_.File("data.yaml", yaml);
    EXPECT_THAT(MessageOf<DataError>([&] { (void)Read(good); }),
                HasSubstr(says));
  }
}

TEST_F(YoloTest, RefusesImagesWithoutAnyLabels) {
  EXPECT_THAT(MessageOf<UsageError>([&] { (void)ReadYolo(raw_.path(), {}); }),
              HasSubstr("no image has a label file: expected labels/a.txt"));
}

}  // namespace infeed::yolo_test
