#include "records/store/index_classes.h"

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/files/dataset_info.h"
#include "records/store/index_data.h"
#include "tests/support/flower_records.h"
#include "tests/support/matchers.h"
#include "tests/support/record_file.h"
#include "tests/support/tar_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"
#include "tests/support/zip_builder.h"

namespace infeed::index_classes_test {

using Names = std::vector<std::string>;

// Data sets in folders of a test's own; each has one image to train on.
class IndexClassesTest : public ::testing::Test {
 protected:
  std::string Shards(const std::string& name) {
    RecordFile()
        .Add(PayloadOf({.image = "image", .label = 1}))
        .Write(Folder(name) + "/train-00000-of-00001");
    return folder_ / name;
  }
  std::string Shards(const std::string& name, const Names& classes,
                     int first_label = 1) {
    WriteDatasetInfo(Folder(name),
                     {.classes = classes, .first_label = first_label});
    return Shards(name);
  }
  std::string Listed(const std::string& name, const std::string& labels) {
    WriteFileAtomically(Folder(name) + "/labels.txt", labels);
    return Shards(name);
  }
  std::string Tar(const std::string& name, const Names& classes) {
    WriteFileAtomically(
        Folder(name) + "/train-0.tar",
        TarFile().Add("a.jpg", "image").Add("a.cls", "0").text());
    WriteDatasetInfo(folder_ / name, {.classes = classes, .first_label = 0});
    return folder_ / name;
  }
  std::string Zip(const std::string& name, const Names& classes) {
    ZipBuilder zip;
    for (const std::string& one : classes) {
      zip.Add(StoredMember(one + "/1.jpg", "image"));
    }
    WriteFileAtomically(folder_ / name, zip.bytes());
    return folder_ / name;
  }
  std::string Folder(const std::string& name) {
    std::filesystem::create_directories(folder_ / name);
    return folder_ / name;
  }

  static std::string ListOf(const Names& data) {
    std::string list;
    for (const std::string& one : data) {
      list.append(list.empty() ? "" : ",").append(one);
    }
    return list;
  }
  static IndexClasses ClassesOf(const Names& data) {
    return FindClasses(IndexSplit(ListOf(data), "train").value());
  }
  static std::string ErrorOf(const Names& data) {
    return MessageOf<UsageError>(
        [&] { (void)IndexSplit(ListOf(data), "train"); });
  }

  const TemporaryFolder folder_;
};

TEST_F(IndexClassesTest, ALabelHasOneNameInAList) {
  const std::string a = Shards("a", {"cat", "dog", "emu"});
  const std::string b = Shards("b", {"cat", "emu", "fox"});
  EXPECT_THAT(
      ErrorOf({a, b}),
      AllOf(HasSubstr(a + " and " + b + " number their classes"),
            HasSubstr("\"dog\" in " + a), HasSubstr("\"emu\" in " + b),
            HasSubstr("one at a time"), HasSubstr("imagenet_to_records")));
  EXPECT_THAT(ErrorOf({b, a}), HasSubstr("\"emu\" in " + b));
  // Also by patterns, and where all splits are read.
  EXPECT_THAT(ErrorOf({a + "/train-*", b + "/train-*"}), HasSubstr("\"dog\""));
  EXPECT_THAT(MessageOf<UsageError>([&] {
                (void)IndexData(ListOf({a + "/*-0*", b + "/*-0*"}));
              }),
              HasSubstr("\"dog\""));
  // Each for itself is well.
  EXPECT_THAT(ClassesOf({a}).names, ElementsAre("cat", "dog", "emu"));
  EXPECT_THAT(ClassesOf({b}).names, ElementsAre("cat", "emu", "fox"));
}

TEST_F(IndexClassesTest, TheSameSetsInAnyFormAreOne) {
  const Names names = {"cat", "dog"};
  const std::string a = Shards("a", names);
  const Names all = {a, Shards("b", names), Listed("c", "cat\ndog\n"),
                     Zip("d.zip", names)};
  EXPECT_EQ(ClassesOf(all), (IndexClasses{.names = names, .first = 1}));
  EXPECT_EQ(ClassesOf({Tar("e", names), Tar("f", names)}),
            (IndexClasses{.names = names, .first = 0}));
}

TEST_F(IndexClassesTest, EveryFormThatHasNamesIsCompared) {
  const std::string a = Shards("a", {"cat", "dog"});
  for (const std::string& other :
       {Listed("b", "dog\ncat\n"), Zip("c.zip", {"dog", "emu"})}) {
    EXPECT_THAT(ErrorOf({a, other}), HasSubstr("\"cat\" in " + a)) << other;
  }
  EXPECT_THAT(ErrorOf({Tar("d", {"cat", "dog"}), Tar("e", {"dog", "emu"})}),
              HasSubstr("\"dog\" in " + (folder_ / "e")));
}

// Their labels agree.
TEST_F(IndexClassesTest, ASetMayLackTheLastClasses) {
  const std::string few = Shards("few", {"cat", "dog"});
  const std::string all = Shards("all", {"cat", "dog", "emu"});
  for (const Names& data : {Names{few, all}, Names{all, few}}) {
    EXPECT_EQ(ClassesOf(data),
              (IndexClasses{.names = {"cat", "dog", "emu"}, .first = 1}));
  }
  // Who has the name is told, not who came first.
  const std::string other = Shards("other", {"cat", "dog", "fox"});
  EXPECT_THAT(
      ErrorOf({few, all, other}),
      HasSubstr("\"emu\" in " + all + " has the label of \"fox\" in " + other));
}

TEST_F(IndexClassesTest, LabelsAreCompared) {
  const std::string one = Shards("one", {"cat", "dog"}, 1);
  const std::string zero = Shards("zero", {"background", "cat", "dog"}, 0);
  for (const Names& data : {Names{one, zero}, Names{zero, one}}) {
    EXPECT_EQ(
        ClassesOf(data),
        (IndexClasses{.names = {"background", "cat", "dog"}, .first = 0}));
  }
  EXPECT_THAT(ErrorOf({one, Shards("same names", {"cat", "dog"}, 0)}),
              HasSubstr("\"cat\" in " + one + " has the label of \"dog\""));
}

TEST_F(IndexClassesTest, WithoutNamesThereIsNothingToCompare) {
  const std::string named = Shards("named", {"cat", "dog"});
  const std::string open = Shards("open");
  for (const Names& data : {Names{named, open}, Names{open, named}}) {
    EXPECT_EQ(ClassesOf(data),
              (IndexClasses{
                  .names = {"cat", "dog"}, .first = 1, .is_of_all = false}));
  }
  EXPECT_EQ(ClassesOf({open, Shards("more")}), IndexClasses());
}

TEST_F(IndexClassesTest, TwoIndexesOfOneRunAreCompared) {
  const RecordIndex train =
      IndexSplit(Shards("a", {"cat", "dog"}), "train").value();
  const RecordIndex same =
      IndexSplit(Zip("b.zip", {"cat", "dog"}), "train").value();
  const RecordIndex other =
      IndexSplit(Zip("c.zip", {"cat", "emu"}), "train").value();
  RequireOneNumbering(std::array{&train, &same});
  EXPECT_THAT(MessageOf<UsageError>([&] {
                RequireOneNumbering(std::array{&train, &other});
              }),
              HasSubstr("\"emu\" in " + (folder_ / "c.zip")));
}

TEST_F(IndexClassesTest, AReaderThatTakesNamesMayHaveBoth) {
  const std::string list =
      ListOf({Shards("a", {"cat", "dog"}), Shards("b", {"dog", "emu"})});
  EXPECT_EQ(IndexSplit(list, "train", {.takes_any_numbering = true})->size(),
            2);
}

}  // namespace infeed::index_classes_test
