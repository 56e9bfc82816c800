#include "records/archives/archive_images.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace archive_images_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// An image's name and its class; "" for none.
using Labelled = std::pair<std::string, std::string>;

// An archive with these names, in their order; a file's offset is its place.
class Archive {
 public:
  explicit Archive(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      files_.push_back({.name = name, .offset = std::ssize(files_)});
    }
  }

  [[nodiscard]] ArchiveImages Find(const std::string& split = "") const {
    ArchiveImages found = FindArchiveImages(
        "a.zip", files_, [](const ArchiveFile&) { return std::string(); });
    KeepSplit(split, found);
    return found;
  }
  [[nodiscard]] std::vector<Labelled> Images(
      const std::string& split = "") const {
    const ArchiveImages found = Find(split);
    std::vector<Labelled> images;
    for (const ArchiveImages::Image& image : found.images) {
      images.emplace_back(
          files_.at(static_cast<std::size_t>(image.offset)).name,
          image.class_index < 0
              ? ""
              : found.classes.at(static_cast<std::size_t>(image.class_index)));
    }
    return images;
  }

 private:
  std::vector<ArchiveFile> files_;
};

TEST(ArchiveImagesTest, AreTheFoldersOfASplit) {
  const Archive archive({"train/dog/1.jpg", "train/cat/2.JPEG", "val/dog/3.png",
                         "test/cat/4.jpg"});
  EXPECT_THAT(archive.Find().classes, ElementsAre("cat", "dog"));
  EXPECT_THAT(archive.Images("train"),
              ElementsAre(Pair("train/cat/2.JPEG", "cat"),
                          Pair("train/dog/1.jpg", "dog")));
  EXPECT_THAT(archive.Images("validation"),
              ElementsAre(Pair("val/dog/3.png", "dog")));
  // The class has the number that it has in training.
  EXPECT_EQ(archive.Find("validation").images.at(0).class_index, 1);
  EXPECT_THAT(archive.Images("test"),
              ElementsAre(Pair("test/cat/4.jpg", "cat")));
  EXPECT_EQ(archive.Images().size(), 4);
}

TEST(ArchiveImagesTest, OfASplitThatIsMissingAreThoseOfTheOthers) {
  const Archive archive({"train/dog/1.jpg", "validation/cat/2.jpg"});
  EXPECT_THAT(archive.Images("test"), IsEmpty());
  EXPECT_THAT(archive.Find("test").classes, ElementsAre("cat", "dog"));
}

TEST(ArchiveImagesTest, AreFoldersWithoutSplits) {
  const Archive archive({"dog/1.jpg", "cat/2.jpg", "loose.jpg"});
  EXPECT_THAT(archive.Images("train"),
              ElementsAre(Pair("cat/2.jpg", "cat"), Pair("dog/1.jpg", "dog")));
  EXPECT_EQ(archive.Images(), archive.Images("train"));
  EXPECT_THAT(archive.Images("validation"), IsEmpty());
  EXPECT_THAT(archive.Find().notes,
              ElementsAre("a.zip: skipped 1 file in no class folder"));
}

TEST(ArchiveImagesTest, AreSortedBytewise) {
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

TEST(ArchiveImagesTest, AreBelowTheFoldersThatAllShare) {
  const Archive archive({"set/v1/train/cat/1.jpg", "set/v1/val/cat/2.jpg",
                         "set/readme.txt", "other/notes.md"});
  EXPECT_THAT(archive.Images("validation"),
              ElementsAre(Pair("set/v1/val/cat/2.jpg", "cat")));
  const Archive classes({"./flowers/rose/1.jpg", "./flowers/tulip/2.jpg"});
  EXPECT_THAT(classes.Images(),
              ElementsAre(Pair("./flowers/rose/1.jpg", "rose"),
                          Pair("./flowers/tulip/2.jpg", "tulip")));
}

TEST(ArchiveImagesTest, KeepTheSplitThatAllShare) {
  const Archive archive({"set/val/cat/1.jpg", "set/val/cat/2.jpg"});
  EXPECT_EQ(archive.Images("validation").size(), 2);
  EXPECT_THAT(archive.Images("train"), IsEmpty());
  EXPECT_THAT(archive.Find().classes, ElementsAre("cat"));
}

TEST(ArchiveImagesTest, LeaveOutWhatIsNoImage) {
  const Archive archive({"a/1.jpg", "a/1.txt", "a/jpg", "a/.2.jpg",
                         ".git/3.jpg", "__MACOSX/a/._1.jpg", "__MACOSX/a/4.jpg",
                         "b/2.webp", "Thumbs.db"});
  EXPECT_THAT(archive.Images(),
              ElementsAre(Pair("a/1.jpg", "a"), Pair("b/2.webp", "b")));
  EXPECT_THAT(archive.Find().notes, IsEmpty());
}

TEST(ArchiveImagesTest, HaveFoldersWithBackslashesToo) {
  const Archive archive({"set\\train\\cat\\1.jpg", "set\\val\\dog\\2.jpg"});
  EXPECT_THAT(archive.Find().classes, ElementsAre("cat", "dog"));
  EXPECT_EQ(archive.Images("validation").size(), 1);
  EXPECT_EQ(ArchiveName("a/b\\c.jpg"), "a/b\\c.jpg");
}

TEST(ArchiveImagesTest, ReportArchivesInside) {
  EXPECT_THAT(Archive({"a/1.jpg", "val.zip", "train.tar.gz"}).Find().notes,
              ElementsAre(HasSubstr("2, the first train.tar.gz: unpack")));
}

TEST(ArchiveImagesTest, ReportLinks) {
  const ArchiveImages found = FindArchiveImages(
      "a.zip", {{.name = "a/1.jpg"}, {.name = "a/2.jpg", .is_readable = false}},
      [](const ArchiveFile&) { return std::string(); });
  EXPECT_EQ(found.images.size(), 1);
  EXPECT_THAT(found.notes, ElementsAre(HasSubstr("1, the first a/2.jpg")));
}

TEST(ArchiveImagesTest, ReportNamesThatLeadElsewhere) {
  const Archive archive({"a/1.jpg", "../../etc/cat/2.jpg", "/etc/3.jpg",
                         "a/../4.jpg", "a/..", "b/5..6.jpg", "././/7.jpg"});
  EXPECT_THAT(archive.Find().notes,
              ElementsAre(HasSubstr("5, the first ../../etc/cat/2.jpg")));
  EXPECT_THAT(archive.Images(),
              ElementsAre(Pair("a/1.jpg", "a"), Pair("b/5..6.jpg", "b")));
}

TEST(ArchiveImagesTest, OfAnEmptyArchiveAreNone) {
  EXPECT_THAT(Archive({}).Find().images, IsEmpty());
  EXPECT_THAT(Archive({"readme.txt"}).Find().images, IsEmpty());
}

TEST(ArchiveImagesTest, AreFoundInTwentyThousandFolders) {
  std::vector<std::string> names;
  for (int i = 0; i < 20'000; ++i) {
    names.push_back("set/train/" + std::to_string(100'000 + i) + "/1.jpg");
  }
  const ArchiveImages found = Archive(names).Find("train");
  ASSERT_EQ(found.images.size(), 20'000);
  for (std::size_t i = 0; i < found.images.size(); ++i) {
    ASSERT_EQ(found.images[i].class_index, static_cast<std::int32_t>(i));
  }
}

}  // namespace archive_images_test
}  // namespace infeed
