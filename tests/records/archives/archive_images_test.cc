#include "records/archives/archive_images.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed::archive_images_test {

// An image's name and its class; "" for none.
using Labelled = std::pair<std::string, std::string>;

// An archive with these names, in their order; a file's offset is its place.
struct Archive {
  explicit Archive(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      files.push_back({.name = name, .offset = std::ssize(files)});
    }
  }

  [[nodiscard]] ArchiveImages Find(const std::string& split = "") const {
    ArchiveImages found = FindArchiveImages(
        "a.zip", files, [](const ArchiveFile&) { return std::string(); });
    KeepSplit(split, found);
    return found;
  }
  [[nodiscard]] std::vector<Labelled> Images(
      const std::string& split = "") const {
    const ArchiveImages found = Find(split);
    std::vector<Labelled> images;
    for (const ArchiveImages::Image& image : found.images) {
      images.emplace_back(
          files.at(static_cast<std::size_t>(image.offset)).name,
          image.class_index < 0
              ? ""
              : found.classes.at(static_cast<std::size_t>(image.class_index)));
    }
    return images;
  }

  std::vector<ArchiveFile> files;
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

TEST(ArchiveImagesTest, LeaveOutWhatIsNoImage) {
  const Archive archive({"a/1.jpg", "a/1.txt", "a/jpg", "a/.2.jpg",
                         ".git/3.jpg", "__MACOSX/a/._1.jpg", "__MACOSX/a/4.jpg",
                         "b/2.webp", "Thumbs.db"});
  EXPECT_THAT(archive.Images(),
              ElementsAre(Pair("a/1.jpg", "a"), Pair("b/2.webp", "b")));
  EXPECT_THAT(archive.Find().notes, IsEmpty());
}

TEST(ArchiveImagesTest, HaveNamesWithSlashes) {
  EXPECT_EQ(ArchiveName("set\\val\\dog\\2.jpg"), "set/val/dog/2.jpg");
  EXPECT_EQ(ArchiveName("a/b\\c.jpg"), "a/b\\c.jpg");
  EXPECT_EQ(ArchiveName("././a.jpg"), "a.jpg");
}

TEST(ArchiveImagesTest, ReportArchivesInside) {
  EXPECT_THAT(Archive({"a/1.jpg", "val.zip", "train.tar.gz"}).Find().notes,
              ElementsAre(HasSubstr("2, the first train.tar.gz: unpack")));
}

TEST(ArchiveImagesTest, ReportLinksAndNamesThatLeadElsewhere) {
  Archive archive({"a/1.jpg", "../../etc/cat/2.jpg", "/etc/3.jpg", "a/../4.jpg",
                   "a/..", "b/5..6.jpg", "././/7.jpg", "b/link.jpg"});
  archive.files.back().is_readable = false;
  EXPECT_THAT(archive.Find().notes,
              ElementsAre(HasSubstr("6, the first ../../etc/cat/2.jpg")));
  EXPECT_THAT(archive.Images(),
              ElementsAre(Pair("a/1.jpg", "a"), Pair("b/5..6.jpg", "b")));
}

// Unpacked, the archive has one file of a name.
TEST(ArchiveImagesTest, HaveANameOnce) {
  const auto refusal = [](const std::vector<std::string>& names) {
    return MessageOf<DataError>([&] { (void)Archive(names).Find(); });
  };
  EXPECT_THAT(refusal({"a/1.jpg", "b/1.jpg", "a/1.jpg"}),
              HasSubstr("a/1.jpg: the name occurs twice, first at byte 0"));
  EXPECT_THAT(refusal({"val/a/1.jpg", "train/a/1.jpg", "./val/a/1.jpg"}),
              HasSubstr("val/a/1.jpg: the name occurs twice"));
  EXPECT_THAT(
      refusal({"class_names.txt", "a/1.jpg", "b/1.jpg", "class_names.txt"}),
      HasSubstr("class_names.txt: the name occurs twice"));
  // Files that are not used, and images without classes, as in a tar of
  // samples.
  EXPECT_EQ(Archive({"a/1.jpg", "x.md", "x.md"}).Images().size(), 1);
  EXPECT_EQ(Archive({"1.jpg", "1.jpg"}).Find().classes.size(), 0);
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

}  // namespace infeed::archive_images_test
