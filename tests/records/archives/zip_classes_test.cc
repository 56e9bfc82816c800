#include "records/archives/zip_classes.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "records/archives/zip_directory.h"
#include "records/bytes/byte_source.h"
#include "tests/support/zip_builder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace zip_classes_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

const std::string kFolder = INFEED_TEST_DATA;

// An image's name and its class; "" for none.
using Labelled = std::pair<std::string, std::string>;

// An archive with these names, in their order.
class Archive {
 public:
  explicit Archive(const std::vector<std::string>& names) {
    ZipBuilder zip;
    for (const std::string& name : names) {
      zip.Add({.name = name, .packed = ""});
    }
    directory_ = ReadZipDirectory(MemorySource("a.zip", zip.bytes()));
  }

  [[nodiscard]] ZipImages Find(const std::string& split = "") const {
    ZipImages found = FindZipImages(directory_);
    KeepSplit(split, found);
    return found;
  }
  [[nodiscard]] std::vector<Labelled> Images(
      const std::string& split = "") const {
    const ZipImages found = Find(split);
    std::vector<Labelled> images;
    for (const ZipImages::Image& image : found.images) {
      images.emplace_back(EntryAt(image).name, ClassOf(found, image));
    }
    return images;
  }

 private:
  [[nodiscard]] const ZipEntry& EntryAt(const ZipImages::Image& image) const {
    for (const ZipEntry& entry : directory_.entries) {
      if (entry.offset == image.offset) {
        Check(entry.extent == image.extent, "the extent is the entry's");
        return entry;
      }
    }
    throw DataError("no entry is there");
  }
  static std::string ClassOf(const ZipImages& found,
                             const ZipImages::Image& image) {
    return image.class_index < 0
               ? ""
               : found.classes.at(static_cast<std::size_t>(image.class_index));
  }

  ZipDirectory directory_;
};

TEST(ZipClassesTest, AreTheFoldersOfASplit) {
  const Archive archive({"train/dog/1.jpg", "train/cat/2.JPEG", "val/dog/3.png",
                         "test/cat/4.jpg"});
  EXPECT_THAT(archive.Find().classes, ElementsAre("cat", "dog"));
  EXPECT_THAT(archive.Images("train"),
              ElementsAre(Pair("train/cat/2.JPEG", "cat"),
                          Pair("train/dog/1.jpg", "dog")));
  for (const std::string split : {"val", "validation"}) {
    EXPECT_THAT(archive.Images(split),
                ElementsAre(Pair("val/dog/3.png", "dog")));
    // The class has the number that it has in training.
    EXPECT_EQ(archive.Find(split).images.at(0).class_index, 1);
  }
  EXPECT_THAT(archive.Images("test"),
              ElementsAre(Pair("test/cat/4.jpg", "cat")));
  EXPECT_EQ(archive.Images().size(), 4);
}

TEST(ZipClassesTest, OfASplitThatIsMissingAreThoseOfTheOthers) {
  const Archive archive({"train/dog/1.jpg", "validation/cat/2.jpg"});
  EXPECT_THAT(archive.Images("test"), IsEmpty());
  EXPECT_THAT(archive.Images("unheard-of"), IsEmpty());
  EXPECT_THAT(archive.Find("test").classes, ElementsAre("cat", "dog"));
}

TEST(ZipClassesTest, AreFoldersWithoutSplits) {
  const Archive archive({"dog/1.jpg", "cat/2.jpg", "loose.jpg"});
  EXPECT_THAT(archive.Images("train"),
              ElementsAre(Pair("cat/2.jpg", "cat"), Pair("dog/1.jpg", "dog"),
                          Pair("loose.jpg", "")));
  EXPECT_EQ(archive.Images(), archive.Images("train"));
  EXPECT_THAT(archive.Images("val"), IsEmpty());
}

TEST(ZipClassesTest, AreSortedBytewise) {
  const Archive archive({"b/1.jpg", "B/1.jpg", "a-b/1.jpg", "a/1.jpg",
                         "\xC3\xA9/1.jpg", "10/1.jpg", "9/1.jpg"});
  EXPECT_THAT(archive.Find().classes,
              ElementsAre("10", "9", "B", "a", "a-b", "b", "\xC3\xA9"));
  EXPECT_THAT(archive.Images(),
              ElementsAre(Pair("10/1.jpg", "10"), Pair("9/1.jpg", "9"),
                          Pair("B/1.jpg", "B"), Pair("a-b/1.jpg", "a-b"),
                          Pair("a/1.jpg", "a"), Pair("b/1.jpg", "b"),
                          Pair("\xC3\xA9/1.jpg", "\xC3\xA9")));
}

TEST(ZipClassesTest, AreBelowTheFoldersThatAllShare) {
  const Archive archive({"set/v1/train/cat/1.jpg", "set/v1/val/cat/2.jpg",
                         "set/readme.txt", "other/notes.md"});
  EXPECT_THAT(archive.Images("val"),
              ElementsAre(Pair("set/v1/val/cat/2.jpg", "cat")));
  EXPECT_EQ(archive.Find().left_out, 2);
  const Archive classes({"./flowers/rose/1.jpg", "./flowers/tulip/2.jpg"});
  EXPECT_THAT(classes.Images(),
              ElementsAre(Pair("./flowers/rose/1.jpg", "rose"),
                          Pair("./flowers/tulip/2.jpg", "tulip")));
}

TEST(ZipClassesTest, KeepTheSplitThatAllShare) {
  const Archive archive({"set/val/cat/1.jpg", "set/val/cat/2.jpg"});
  EXPECT_EQ(archive.Images("val").size(), 2);
  EXPECT_THAT(archive.Images("train"), IsEmpty());
  EXPECT_THAT(archive.Find().classes, ElementsAre("cat"));
}

TEST(ZipClassesTest, HaveTheImagesOfDeeperFolders) {
  const Archive archive({"train/cat/black/old/1.jpg", "train/dog/2.jpg"});
  EXPECT_THAT(archive.Images("train"),
              ElementsAre(Pair("train/cat/black/old/1.jpg", "cat"),
                          Pair("train/dog/2.jpg", "dog")));
}

TEST(ZipClassesTest, MayBeNamedAsASplit) {
  const Archive archive({"boat/1.jpg", "train/2.jpg"});
  EXPECT_THAT(
      archive.Images("train"),
      ElementsAre(Pair("boat/1.jpg", "boat"), Pair("train/2.jpg", "train")));
}

TEST(ZipClassesTest, LeaveOutImagesOutsideTheSplits) {
  const Archive archive(
      {"train/cat/1.jpg", "val/2.jpg", "extra/cat/3.jpg", "logo.png"});
  EXPECT_THAT(archive.Images(), ElementsAre(Pair("train/cat/1.jpg", "cat"),
                                            Pair("val/2.jpg", "")));
  EXPECT_EQ(archive.Find().left_out, 2);
}

TEST(ZipClassesTest, AreTheWordsOfFlatNames) {
  const Archive archive({"train/dog.0.jpg", "train/cat.10.jpg",
                         "train/cat.2.jpg", "test/1.jpg", "test/cat.2.jpg"});
  EXPECT_THAT(archive.Images("train"),
              ElementsAre(Pair("train/cat.10.jpg", "cat"),
                          Pair("train/cat.2.jpg", "cat"),
                          Pair("train/dog.0.jpg", "dog")));
  // Not all of these names have the form.
  EXPECT_THAT(archive.Images("test"),
              ElementsAre(Pair("test/1.jpg", ""), Pair("test/cat.2.jpg", "")));
  EXPECT_THAT(Archive({"cat.0.jpg", "dog.1.jpg"}).Find("train").classes,
              ElementsAre("cat", "dog"));
}

TEST(ZipClassesTest, AreNoneInOtherFlatNames) {
  for (const std::string name :
       {"cat.jpg", "cat.x.jpg", "cat..jpg", "2024.01.jpg", "cat.1.2.jpg",
        "cat.1.jpg.jpg", "cat.-1.jpg"}) {
    const Archive archive({"train/" + name, "train/dog.1.png"});
    EXPECT_THAT(archive.Find().classes, IsEmpty()) << name;
    EXPECT_EQ(archive.Images("train").size(), 2);
    EXPECT_EQ(archive.Find().images.at(0).class_index, -1);
  }
  // Words are no classes beside folders that are.
  EXPECT_THAT(Archive({"train/a/1.jpg", "train/cat.1.jpg"}).Find().classes,
              ElementsAre("a"));
}

TEST(ZipClassesTest, LeaveOutWhatIsNoImage) {
  const Archive archive({"a/1.jpg", "a/1.txt", "a/jpg", "a/.2.jpg",
                         ".git/3.jpg", "__MACOSX/a/._1.jpg", "__MACOSX/a/4.jpg",
                         "b/2.webp", "Thumbs.db"});
  EXPECT_THAT(archive.Images(),
              ElementsAre(Pair("a/1.jpg", "a"), Pair("b/2.webp", "b")));
  EXPECT_EQ(archive.Find().left_out, 7);
  EXPECT_THAT(archive.Find().bad_names, IsEmpty());
}

TEST(ZipClassesTest, ReportLinks) {
  ZipBuilder zip;
  zip.Add({.name = "a/1.jpg", .packed = "", .mode = 0100644});
  zip.Add({.name = "a/2.jpg", .packed = "1.jpg", .bytes = 5, .mode = 0120777});
  const ZipImages found =
      FindZipImages(ReadZipDirectory(MemorySource("a.zip", zip.bytes())));
  EXPECT_EQ(found.images.size(), 1);
  EXPECT_THAT(found.bad_names, ElementsAre("a/2.jpg"));
}

TEST(ZipClassesTest, ReportNamesThatLeadElsewhere) {
  const Archive archive({"a/1.jpg", "../../etc/cat/2.jpg", "/etc/3.jpg",
                         "a/../4.jpg", "a/..", "b/5..6.jpg", "././/7.jpg"});
  EXPECT_THAT(archive.Find().bad_names,
              ElementsAre("../../etc/cat/2.jpg", "././/7.jpg", "/etc/3.jpg",
                          "a/..", "a/../4.jpg"));
  EXPECT_THAT(archive.Images(),
              ElementsAre(Pair("a/1.jpg", "a"), Pair("b/5..6.jpg", "b")));
  EXPECT_EQ(archive.Find().left_out, 0);
}

TEST(ZipClassesTest, OfAnEmptyArchiveAreNone) {
  EXPECT_THAT(Archive({}).Find().images, IsEmpty());
  EXPECT_EQ(Archive({"readme.txt"}).Find("train").left_out, 1);
}

TEST(ZipClassesTest, OfAnArchiveOfZipfileAreItsFolders) {
  ZipImages found =
      FindZipImages(ReadZipDirectory(FileSource(kFolder + "/zip/prefix.zip")));
  KeepSplit("train", found);
  EXPECT_THAT(found.classes,
              ElementsAre("K\xC3\xA4se \xE7\x8C\xAB", "cat", "dog"));
  EXPECT_EQ(found.images.size(), 4);
  EXPECT_EQ(found.left_out, 1);
}

TEST(ZipClassesTest, AreFoundInTwentyThousandFolders) {
  std::vector<std::string> names;
  for (int i = 0; i < 20'000; ++i) {
    names.push_back("set/train/" + std::to_string(100'000 + i) + "/1.jpg");
  }
  const ZipImages found = Archive(names).Find("train");
  ASSERT_EQ(found.images.size(), 20'000);
  for (std::size_t i = 0; i < found.images.size(); ++i) {
    ASSERT_EQ(found.images[i].class_index, static_cast<std::int32_t>(i));
  }
}

}  // namespace zip_classes_test
}  // namespace infeed
