#include "tools/images/raw_input_flags.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/support/image_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/raw_bytes.h"
#include "tests/support/throws.h"
#include "tools/images/duplicates.h"

namespace infeed::raw_input_flags_test {

using Words = std::vector<std::string>;

RawInputFlags FlagsWith(const Words& folders, const std::string& split = "",
                        const Words& manifests = {},
                        RawFormat format = RawFormat::kImages) {
  RawInputFlags flags;
  flags.raw_data_dirs = folders;
  flags.split = split;
  flags.manifests = manifests;
  flags.raw_format = format;
  return flags;
}

// "NAME IMAGES" of each split that has images.
Words SizesOf(const ImageTree& tree) {
  Words sizes;
  for (const ImageSplit& split : tree.splits) {
    if (!split.images.empty()) {
      sizes.push_back(split.name + " " + std::to_string(split.images.size()));
    }
  }
  return sizes;
}

TEST(RawInputFlagsTest, UniteFoldersWhoseNamesMayHaveCommas) {
  ImageFolder first;
  ImageFolder second;
  first.Jpegs({"a,b/cat/1.jpg"});
  second.Jpegs({"cat/2.jpg", "dog/1.jpg"});
  const std::string odd = first / "a,b";
  EXPECT_THAT(SizesOf(ReadRawInput(FlagsWith({odd}))), ElementsAre("train 1"));
  std::filesystem::rename(odd, first / "ab");
  for (const Words& folders :
       {std::vector{first / "ab", second.path()},
        std::vector{(first / "ab") + "," + second.path()}}) {
    const ImageTree tree = ReadRawInput(FlagsWith(folders));
    EXPECT_THAT(SizesOf(tree), ElementsAre("train 3"));
    EXPECT_EQ(tree.classes.size(), 2U);
  }
}

TEST(RawInputFlagsTest, NameTheirSourceTheSameFromAnyFolder) {
  const std::string here = std::filesystem::current_path().string();
  const std::string source = SourceText(FlagsWith({here + "/a", here + "/b"}));
  for (const Words& folders :
       {Words{"b/,./a"}, Words{"b", "c/../a"}, Words{here + "/b,a"}}) {
    EXPECT_EQ(SourceText(FlagsWith(folders)), source);
  }
  EXPECT_EQ(SourceText(FlagsWith({"https://h/a.tar?X-Amz-Signature=1"})),
            SourceText(FlagsWith({"https://h/a.tar?X-Amz-Signature=2"})));
  EXPECT_NE(SourceText(FlagsWith({"a"})), source);
  EXPECT_NE(SourceText(FlagsWith({"a", "b"}, "0.9/0.1")), source);
  EXPECT_NE(SourceText(FlagsWith({"a", "b"}, "", {"c.csv"})), source);
  RawInputFlags named = FlagsWith({"tmp-1"});
  named.source = "x";
  RawInputFlags again = FlagsWith({"tmp-2"});
  again.source = "x";
  EXPECT_EQ(SourceText(named), SourceText(again));
}

TEST(RawInputFlagsTest, DivideAManifestWithoutSplits) {
  ImageFolder raw;
  raw.Jpegs({"a/1.jpg", "a/2.jpg"})
      .File("m.csv", "path,label\n1.jpg,cat\n2.jpg,cat\n");
  EXPECT_THAT(
      SizesOf(ReadRawInput(FlagsWith({raw / "a"}, "0.5/0.5", {raw / "m.csv"}))),
      ElementsAre("train 1", "validation 1"));
}

TEST(RawInputFlagsTest, ReportDuplicates) {
  ImageFolder raw;
  raw.File("a/1.jpg", "x").File("b/2.jpg", "x");
  RawInputFlags flags = FlagsWith({raw.path()});
  flags.report_duplicates = true;
  const ImageTree tree = ReadRawInput(flags);
  EXPECT_THAT(DuplicatesText(tree.duplicates),
              AllOf(HasSubstr("2 images have the same content, but different "
                              "classes"),
                    HasSubstr("b/2.jpg (class b, train)")));
  EXPECT_THAT(tree.notes, Contains(HasSubstr("duplicates: 1 group of images")));
}

// Images with boxes have no class by which they could be divided.
TEST(RawInputFlagsTest, DivideImagesWithBoxes) {
  ImageFolder raw;
  raw.Jpegs({"images/1.jpg", "images/2.jpg"})
      .File("labels/1.txt", "0 0.5 0.5 0.25 0.5\n");
  RawInputFlags flags = FlagsWith({raw.path()}, "0.5/0.5");
  flags.yolo = true;
  flags.report_duplicates = true;
  EXPECT_THAT(SizesOf(ReadRawInput(flags)),
              ElementsAre("train 1", "validation 1"));
}

TEST(RawInputFlagsTest, RefuseOptionsOfOtherAnnotations) {
  const auto message = [](const std::function<void(RawInputFlags&)>& change) {
    RawInputFlags flags = FlagsWith({"raw"});
    change(flags);
    return MessageOf<UsageError>([&] { (void)ReadRawInput(flags); });
  };
  using Flags = RawInputFlags;
  EXPECT_THAT(message([](Flags& flags) { flags.voc = flags.yolo = true; }),
              HasSubstr("--coco, --voc and --yolo: give one of them"));
  EXPECT_THAT(message([](Flags& flags) {
                flags.coco = {"a.json", ""};
              }),
              HasSubstr("--coco: one of the files has no name"));
  EXPECT_THAT(
      message([](Flags& flags) { flags.annotations.drop_crowds = true; }),
      HasSubstr("--drop_crowds is for --coco"));
  EXPECT_THAT(
      message([](Flags& flags) { flags.annotations.drop_empty = true; }),
      HasSubstr("--drop_empty is for --coco, --voc and --yolo"));
  EXPECT_THAT(message([](Flags& flags) {
                flags.voc = true;
                flags.annotations.key_point_numbers = 0;
              }),
              HasSubstr("--kpt_shape is for --yolo"));
  EXPECT_THAT(message([](Flags& flags) {
                flags.yolo = true;
                flags.annotations.voc_from_one = true;
              }),
              HasSubstr("--voc_from_one is for --voc"));
  EXPECT_THAT(message([](Flags& flags) {
                flags.voc = true;
                flags.manifests = {"a.csv"};
              }),
              HasSubstr("--voc: leave --manifest and --raw_format out"));
  EXPECT_THAT(message([](Flags& flags) {
                flags.yolo = true;
                flags.raw_data_dirs = {};
              }),
              HasSubstr("--yolo: takes the images of one --raw_data_dir"));
}

TEST(RawInputFlagsTest, RefuseWhatContradicts) {
  ImageFolder raw;
  raw.Jpegs({"train/a/1.jpg"}).File("m.csv", "path,label\n1.jpg,cat\n");
  struct Case {
    RawInputFlags flags;
    const char* says;
  };
  const Words manifest = {raw / "m.csv"};
  const char* const raw_format =
      "--raw_format: takes the raw files of one --raw_data_dir";
  for (const Case& one :
       {Case{FlagsWith({raw.path() + ","}), "one of the folders has no name"},
        Case{FlagsWith({"a", "b"}, "", manifest),
             "can start at one folder only"},
        Case{FlagsWith({"a", "b"}, "", {}, RawFormat::kIdx), raw_format},
        Case{FlagsWith({"a"}, "", manifest, RawFormat::kIdx), raw_format},
        Case{FlagsWith({raw.path()}, "reference"), "the input is divided"}}) {
    EXPECT_THAT(MessageOf<UsageError>([&] { (void)ReadRawInput(one.flags); }),
                HasSubstr(one.says));
  }
}

}  // namespace infeed::raw_input_flags_test
