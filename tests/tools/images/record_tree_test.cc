#include "tools/images/record_tree.h"

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "records/example/builder.h"
#include "records/example/imagenet_example.h"
#include "records/files/dataset_info.h"
#include "tests/support/image_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/record_file.h"
#include "tests/support/tar_file.h"
#include "tests/support/test_jpeg.h"
#include "tests/support/throws.h"
#include "tests/support/zip_builder.h"
#include "tools/images/duplicates.h"
#include "tools/images/source.h"
#include "tools/images/tree_union.h"

namespace infeed::record_tree_test {

ImageTree Find(const std::string& data) {
  return FindRecordImages(data, {}, 2, [](std::int64_t) {}).value();
}

// "CLASS/NAME OF THE FILE=BYTES" of each image of the first split.
std::vector<std::string> Told(const ImageTree& tree) {
  std::vector<std::string> told;
  for (const ImageFile& image : tree.splits.front().images) {
    const auto number = static_cast<std::size_t>(image.class_index);
    told.push_back(tree.classes[number].name + "/" + ImageName(image) + "=" +
                   ReadImage(image));
  }
  return told;
}

std::vector<std::string> ClassNames(const ImageTree& tree) {
  std::vector<std::string> names;
  for (const ImageClass& one : tree.classes) {
    names.push_back(one.name);
  }
  return names;
}

std::string Record(std::int64_t label, const std::string& image,
                   const std::string& filename = "") {
  return BuildImagenetExample({.label = label,
                               .synset = "",
                               .text = "",
                               .filename = filename,
                               .encoded = image});
}

TEST(RecordTreeTest, FindsTheSamplesOfATarByName) {
  ImageFolder raw;
  raw.File("x.tar", TarFile()
                        .Add("b/1.jpg", "B")
                        .Add("b/1.cls", "7")
                        .Add("a/2.jpg", "A")
                        .Add("a/2.cls", "10")
                        .End()
                        .text());
  const ImageTree tree = Find(raw / "x.tar");
  EXPECT_EQ(tree.splits.front().name, "train");
  EXPECT_EQ(tree.splits.front().images[0].path, (raw / "x.tar") + "#a/2.jpg");
  EXPECT_EQ(tree.splits.front().images[0].bytes, 1);
  EXPECT_THAT(Told(tree), ElementsAre("10/2.jpg=A", "07/1.jpg=B"));
  EXPECT_FALSE(tree.has_split_folders);
}

// The image is under another key than the standard one.
TEST(RecordTreeTest, FindsTheRecordsOfOthers) {
  ImageFolder raw;
  const std::string image = TestJpeg();
  RecordFile()
      .Add(BuildExample(std::vector<ExampleFeature>{
          {"image", std::vector<std::string_view>{image}},
          {"label", std::vector<std::int64_t>{3}}}))
      .Write(raw / "x.tfrecord");
  EXPECT_THAT(Told(Find(raw / "x.tfrecord")),
              ElementsAre("3/00000000=" + image));
}

TEST(RecordTreeTest, FindsTheSplitsOfAFolder) {
  ImageFolder raw;
  raw.File("train-0.tar", TarFile().Add("a.jpg", "A").Add("a.cls", "1").text())
      .File("val-0.tar", TarFile().Add("b.jpg", "B").Add("b.cls", "2").text())
      .File("more.tar", TarFile().Add("c.jpg", "C").Add("c.cls", "1").text());
  const ImageTree tree = Find(raw.path());
  // A file that names no split is train's.
  EXPECT_THAT(Told(tree), ElementsAre("1/c.jpg=C", "1/a.jpg=A"));
  ASSERT_EQ(tree.splits.size(), 2U);
  EXPECT_EQ(tree.splits[1].name, "validation");
  EXPECT_THAT(ClassNames(tree), ElementsAre("0", "1", "2"));
  EXPECT_TRUE(tree.has_split_folders);
}

TEST(RecordTreeTest, RefusesAFolderThatLacksATar) {
  ImageFolder raw;
  raw.File("x-00001-of-00002.tar",
           TarFile().Add("a.jpg", "A").Add("a.cls", "1").text());
  EXPECT_THAT(MessageOf<DataError>([&] { (void)Find(raw.path()); }),
              AllOf(HasSubstr("missing: " + (raw / "x-00000-of-00002.tar;")),
                    EndsWith("name those that are there by a pattern")));
  EXPECT_THAT(Told(Find(raw / "x-00001-*")), ElementsAre("1/a.jpg=A"));
}

// Classes in dataset.json that no record has count, too.
TEST(RecordTreeTest, TakesTheClassesOfDatasetJson) {
  ImageFolder raw;
  RecordFile().Add(Record(2, "I", "1.jpg")).Write(raw / "x.tfrecord");
  WriteDatasetInfo(raw.path(),
                   {.classes = {"cat", "dog", "emu"}, .first_label = 1});
  const ImageTree tree = Find(raw / "x.tfrecord");
  EXPECT_THAT(ClassNames(tree), ElementsAre("cat", "dog", "emu"));
  EXPECT_THAT(Told(tree), ElementsAre("dog/1.jpg=I"));
}

TEST(RecordTreeTest, RefusesALabelThatDatasetJsonLacks) {
  ImageFolder raw;
  RecordFile().Add(Record(3, "I", "1.jpg")).Write(raw / "x.tfrecord");
  WriteDatasetInfo(raw.path(), {.classes = {"cat", "dog"}, .first_label = 1});
  EXPECT_THAT(MessageOf<DataError>([&] { (void)Find(raw / "x.tfrecord"); }),
              AllOf(HasSubstr("x.tfrecord#1.jpg"), HasSubstr("the label is 3"),
                    HasSubstr("2 classes")));
}

TEST(RecordTreeTest, RefusesARecordWithoutALabel) {
  ImageFolder raw;
  raw.File(
      "x.tar",
      TarFile().Add("a.jpg", "A").Add("a.cls", "1").Add("q/b.jpg", "B").text());
  EXPECT_THAT(MessageOf<DataError>([&] { (void)Find(raw / "x.tar"); }),
              AllOf(HasSubstr("x.tar#q/b.jpg"),
                    HasSubstr("it has no .cls and no .json")));
}

// "LABEL=CLASS" of the images of a split.
std::vector<std::string> Numbers(const ImageTree& tree) {
  std::vector<std::string> numbers;
  for (const ImageFile& image : tree.splits.front().images) {
    numbers.push_back(ImageName(image) + "=" +
                      std::to_string(image.class_index));
  }
  return numbers;
}

std::string TarOf(const std::vector<int>& labels) {
  TarFile tar;
  for (const int label : labels) {
    const std::string key = std::to_string(label);
    tar.Add(key + ".jpg", "I").Add(key + ".cls", key);
  }
  return tar.text();
}

TEST(RecordTreeTest, ANoteOnAnArchiveIsGivenOnceForAllSplits) {
  ImageFolder raw;
  raw.File("x.zip", ZipBuilder()
                        .Add(StoredMember("train/a/1.jpg", TestJpeg()))
                        .Add(StoredMember("val/a/2.jpg", TestJpeg()))
                        .Add(StoredMember("val/b/3.jpg", TestJpeg()))
                        .bytes());
  EXPECT_THAT(Find(raw / "x.zip").notes,
              ElementsAre(HasSubstr("class of validation is not in train: b")));
}

// Classes in another order than their names'.
TEST(RecordTreeTest, LabelsKeepTheirNumbers) {
  ImageFolder raw;
  raw.File("tars/train-0.tar", TarOf({0, 1, 2}))
      .File("list/train-0.tar", TarOf({0, 1, 2}))
      .File("list/labels.txt", "red\ngreen\nblue\n")
      .Folder("records");
  WriteDatasetInfo(raw / "tars",
                   {.classes = {"red", "green", "blue"}, .first_label = 0});
  RecordFile()
      .Add(Record(1, "I", "0.jpg"))
      .Add(Record(2, "I", "1.jpg"))
      .Add(Record(3, "I", "2.jpg"))
      .Write(raw / "records/train-00000-of-00001");
  WriteDatasetInfo(raw / "records",
                   {.classes = {"red", "green", "blue"}, .first_label = 1});
  for (const std::string& data : {raw / "tars", raw / "list", raw / "records",
                                  (raw / "tars/train-0.tar") + "," +
                                      (raw / "records/train-00000-of-00001")}) {
    const ImageTree tree = Find(data);
    EXPECT_THAT(ClassNames(tree), ElementsAre("red", "green", "blue")) << data;
    EXPECT_THAT(tree.notes, IsEmpty()) << data;
    for (const std::string& number : Numbers(tree)) {
      EXPECT_TRUE(number == "0.jpg=0" || number == "1.jpg=1" ||
                  number == "2.jpg=2")
          << data << number;
    }
  }
}

TEST(RecordTreeTest, LabelsThatDoNotOccurAreClasses) {
  ImageFolder raw;
  raw.File("x.tar", TarOf({10, 2}));
  const ImageTree tree = Find(raw / "x.tar");
  EXPECT_EQ(tree.classes.size(), 11U);
  EXPECT_EQ(tree.classes[2].name, "02");
  EXPECT_THAT(Numbers(tree), ElementsAre("10.jpg=10", "2.jpg=2"));
}

TEST(RecordTreeTest, RefusesALabelThatIsNoClassNumber) {
  ImageFolder raw;
  raw.File("x.tar", TarOf({100'000}));
  EXPECT_THAT(MessageOf<DataError>([&] { (void)Find(raw / "x.tar"); }),
              HasSubstr("at most 100000 classes"));
}

// Two data sets of other classes.
TEST(RecordTreeTest, NotesWhereNumbersChange) {
  ImageFolder raw;
  raw.File("a/x.tar", TarOf({0, 1})).File("b/y.tar", TarOf({0}));
  WriteDatasetInfo(raw / "a", {.classes = {"red", "blue"}, .first_label = 0});
  WriteDatasetInfo(raw / "b", {.classes = {"green"}, .first_label = 0});
  const ImageTree tree = Find((raw / "a/x.tar") + "," + (raw / "b/y.tar"));
  EXPECT_THAT(ClassNames(tree), ElementsAre("blue", "green", "red"));
  EXPECT_THAT(tree.notes, ElementsAre(HasSubstr("numbered anew, by name")));
}

TEST(RecordTreeTest, TakesTheKeysOfTheUser) {
  ImageFolder raw;
  raw.File(
      "x.tar",
      TarFile().Add("a.jpg", "J").Add("a.png", "P").Add("a.cls", "0").text());
  const ImageTree tree =
      FindRecordImages(raw / "x.tar", {.image = "png"}, 1, [](std::int64_t) {
      }).value();
  EXPECT_THAT(Told(tree), ElementsAre("0/a.png=P"));
}

TEST(RecordTreeTest, ListsABadRecordWhoseImageCannotBeRead) {
  ImageFolder raw;
  const std::string good = Record(1, "good", "1.jpg");
  RecordFile()
      .Add(good)
      .Add(Record(1, "bad", "2.jpg"))
      .FlipByte(16 + good.size() + 20)
      .Write(raw / "x.tfrecord");
  const ImageTree tree = Find(raw / "x.tfrecord");
  const std::vector<ImageFile>& images = tree.splits.front().images;
  ASSERT_EQ(images.size(), 2U);
  EXPECT_EQ(images[0].path, (raw / "x.tfrecord") + "#00000001");
  EXPECT_THAT(MessageOf<DataError>([&] { (void)ReadImage(images[0]); }),
              HasSubstr("checksum"));
  EXPECT_EQ(ReadImage(images[1]), "good");
}

TEST(RecordTreeTest, RefusesDataWithoutAGoodRecord) {
  ImageFolder raw;
  raw.File("x.tar", TarFile().Add("a.txt", "A").Add("a.cls", "1").text());
  EXPECT_THAT(
      MessageOf<DataError>([&] { (void)Find(raw / "x.tar"); }),
      AllOf(HasSubstr("has no image"), HasSubstr("as all other records")));
}

TEST(RecordTreeTest, CallsWithTheNumberOfRecordsAndPassesItsErrorOn) {
  ImageFolder raw;
  raw.File("x.tar", TarFile().Add("a.jpg", "A").Add("a.cls", "1").text());
  std::int64_t seen = 0;
  (void)FindRecordImages(raw / "x.tar", {}, 1,
                         [&](std::int64_t records) { seen = records; });
  EXPECT_EQ(seen, 1);
  EXPECT_EQ(MessageOf<IoError>([&] {
              (void)FindRecordImages(raw / "x.tar", {}, 1, [](std::int64_t) {
                throw IoError("stop");
              });
            }),
            "stop");
}

TEST(RecordTreeTest, FindsDuplicatesInRecords) {
  ImageFolder raw;
  raw.File("x.tar", TarFile()
                        .Add("a.jpg", "same")
                        .Add("a.cls", "1")
                        .Add("b.jpg", "same")
                        .Add("b.cls", "2")
                        .Add("c.txt", "bad")
                        .Add("d.txt", "bad")
                        .text());
  const std::vector<DuplicateGroup> groups =
      FindDuplicates(Find(raw / "x.tar"), 1);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].images[1].path, (raw / "x.tar") + "#b.jpg");
}

// Images of a folder and of tars, some of which have the same names.
TEST(RecordTreeTest, UnitesWithFolders) {
  ImageFolder raw;
  const std::string tar =
      TarFile().Add("1.jpg", "T").Add("1.cls", "4").End().text();
  raw.File("cats/cat/1.jpg", "C").File("x.tar", tar).File("y.tar", tar);
  const ImageTree tree =
      FindImagesIn({raw / "y.tar", raw / "cats", raw / "x.tar"});
  EXPECT_THAT(Told(tree), ElementsAre("cat/1.jpg=C", "4/1.jpg=T", "4/1.jpg=T"));
  EXPECT_THAT(tree.notes, IsEmpty());  // 0 to 4 keep their numbers.
}

TEST(RecordTreeTest, NamesAFolderWithNeitherImagesNorRecords) {
  ImageFolder raw;
  raw.Folder("empty").File("x.tar", TarFile().Add("1.jpg", "T").text());
  EXPECT_THAT(MessageOf<UsageError>([&] {
                (void)FindImagesIn({raw / "x.tar", raw / "empty"});
              }),
              AllOf(HasSubstr("empty: no images found"),
                    HasSubstr("no TFRecords, tars or zips")));
}

TEST(RecordTreeTest, NamesAMissingShardOfASet) {
  ImageFolder raw;
  RecordFile().Add(Record(1, "I")).Write(raw / "train-00000-of-00002");
  EXPECT_THAT(MessageOf<DataError>([&] { (void)Find(raw.path()); }),
              AllOf(HasSubstr("train-00001-of-00002"),
                    HasSubstr("name those that are there by a pattern")));
}

}  // namespace infeed::record_tree_test
