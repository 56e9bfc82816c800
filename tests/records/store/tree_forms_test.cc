#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/example/imagenet_example.h"
#include "records/files/class_list.h"
#include "records/files/image_layout.h"
#include "records/files/open_source.h"
#include "records/files/split_names.h"
#include "records/store/file_records.h"
#include "records/store/image_tree.h"
#include "records/store/index_data.h"
#include "records/tfrecord/format.h"
#include "tests/support/environment_variable.h"
#include "tests/support/matchers.h"
#include "tests/support/raw_bytes.h"
#include "tests/support/seen_records.h"
#include "tests/support/tar_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"
#include "tests/support/zip_builder.h"

// One tree of images is understood in the same way as a folder and in every
// archive.
namespace infeed::tree_forms_test {

namespace fs = std::filesystem;

// Trees, each as the paths and bytes of its files.
using Tree = std::map<std::string, std::string>;

Tree WithImages(const std::vector<std::string>& images, Tree tree = {}) {
  for (const std::string& image : images) {
    tree.emplace(image, "\xff\xd8\xff " + image);
  }
  return tree;
}

std::map<std::string, Tree> Trees() {
  return {
      {"plain", WithImages({"cat/a.jpg", "cat/more/b.jpg", "dog/c.jpg"})},
      {"splits", WithImages({"Train/cat/a.jpg", "Train/dog/b.jpg",
                             "VALID/dog/images/c.jpg", "testing/cat/d.jpg"})},
      {"outer", WithImages({"set/train/a-b/1.jpg", "set/train/a/2.jpg",
                            "set/dev/a/3.jpg", "set/readme.txt"})},
      {"tiny", WithImages({"t/train/n1/images/1.JPEG",
                           "t/train/n2/images/2.JPEG", "t/val/images/v0.JPEG",
                           "t/val/images/v1.JPEG", "t/test/images/t0.JPEG"},
                          {{"t/train/n1/n1_boxes.txt", "1.JPEG\t0\n"},
                           {"t/val/val_annotations.txt",
                            "v1.JPEG\tn1\t0\nv0.JPEG\tn2\t0\n"}})},
      {"imagenet",
       WithImages(
           {"train/n2/x.JPEG", "validation/v1.JPEG", "validation/v2.JPEG"},
           {{"synset_labels.txt", "\xEF\xBB\xBFn3\r\nn2\r\n"}})},
      {"words",
       WithImages({"train/cat.0.jpg", "train/dog.0.jpg", "test/1.jpg"})},
      {"dots", WithImages({"cat/I.1.jpg", "cat/I.JPG", "cat/J.jpg", "dog/I.jpg",
                           "dog/I.x.y.jpg"})},
      {"latin1", WithImages({"k\xE4se/1.jpg", "cafe\xCC\x81/2.jpg"})},
  };
}

// The forms of a tree: a folder, and the path of each archive.
std::map<std::string, std::string> WriteForms(const TemporaryFolder& folder,
                                              const std::string& name,
                                              const Tree& tree) {
  ZipBuilder zip;
  ZipBuilder windows;
  TarFile tar;
  for (const auto& [path, bytes] : tree) {
    const std::string file = folder / (name + "/" + path);
    fs::create_directories(fs::path(file).parent_path());
    WriteFileAtomically(file, bytes);
    zip.Add(StoredMember(path, bytes));
    std::string backslashes = path;
    std::ranges::replace(backslashes, '/', '\\');
    windows.Add(DeflatedMember(backslashes, bytes));
    tar.Add(path, bytes);
  }
  tar.End();
  std::map<std::string, std::string> forms = {
      {"zip", folder / (name + ".zip")},
      {"windows", folder / (name + "-windows.zip")},
      {"tar", folder / (name + ".tar")},
      {"gz", folder / (name + ".tar.gz")}};
  WriteFileAtomically(forms["zip"], zip.bytes());
  WriteFileAtomically(forms["windows"], windows.bytes());
  WriteFileAtomically(forms["tar"], tar.text());
  WriteFileAtomically(forms["gz"], Gzipped(tar.text()));
  return forms;
}

// A shard of one record.
void WriteShard(const std::string& path) {
  std::string bytes;
  AppendFrame(bytes, BuildImagenetExample({.label = 1,
                                           .synset = {},
                                           .text = {},
                                           .filename = "a.jpg",
                                           .encoded = "\xff\xd8\xff"}));
  fs::create_directories(fs::path(path).parent_path());
  WriteFileAtomically(path, bytes);
}

// A compressed tar has the order of its members.
Seen InOrder(const std::string& form, Seen seen) {
  if (form == "gz") {
    std::ranges::sort(seen);
  }
  return seen;
}

class TreeFormsTest : public ::testing::Test {
 protected:
  TemporaryFolder cache_;
  EnvironmentVariable cache_home_{"XDG_CACHE_HOME", cache_.path()};
  TemporaryFolder folder_;
};

TEST_F(TreeFormsTest, OneTreeIsTheSameInEveryForm) {
  for (const auto& [name, tree] : Trees()) {
    const auto forms = WriteForms(folder_, name, tree);
    const RecordIndex all = IndexData(folder_ / name);
    for (const auto& [form, path] : forms) {
      for (const char* start : {"first", "kept"}) {
        const RecordIndex index = IndexData(path);
        EXPECT_EQ(InOrder(form, See(index)), InOrder(form, See(all)))
            << name << form << start;
        EXPECT_EQ(index.class_names(), all.class_names()) << name << form;
      }
      for (const std::string_view split : kSplits) {
        const std::optional<RecordIndex> folder =
            IndexSplit(folder_ / name, split);
        const std::optional<RecordIndex> archive = IndexSplit(path, split);
        ASSERT_EQ(folder.has_value(), archive.has_value())
            << name << form << split;
        EXPECT_TRUE(!folder ||
                    InOrder(form, See(*folder)) == InOrder(form, See(*archive)))
            << name << form << split;
      }
    }
  }
}

bool HasUnused(const std::vector<std::string>& notes) {
  return std::ranges::any_of(notes, [](const std::string& note) {
    return note.ends_with(
        "class_names.txt: 1 line names no class, such as n9: a line is a "
        "class, a tab and its readable name");
  });
}

TEST_F(TreeFormsTest, ReadableNamesOfClassesAreTheSameInEveryForm) {
  const std::vector<std::string> images = {"set/n1/a.jpg", "set/n2/b.jpg"};
  const std::map<std::string, Tree> trees = {
      {"root",
       {{"class_names.txt", "\xEF\xBB\xBFn1\ttabby cat\r\nn9 none\r\n"},
        {"words.txt", "n2\tnot read"}}},
      {"inner",
       {{"set/LOC_synset_mapping.txt", "n1 tabby cat\n"},
        {"set/n1/class_names.txt", "n2\tnot read"}}}};
  const ClassTexts texts = {{"n1", "tabby cat"}};
  for (const auto& [name, tree] : trees) {
    const auto forms = WriteForms(folder_, name, WithImages(images, tree));
    const ImageTree folder = FindImages(folder_ / name);
    EXPECT_EQ(folder.classes[0].text, "tabby cat") << name;
    EXPECT_EQ(folder.classes[1].text, "n2") << name;
    EXPECT_EQ(HasUnused(folder.notes), name == "root");
    for (const auto& [form, path] : forms) {
      for (const char* start : {"first", "kept"}) {
        const RecordIndex index = IndexData(path);
        EXPECT_EQ(index.class_texts(), texts) << name << form << start;
        EXPECT_EQ(HasUnused(index.notes()), name == "root") << form << start;
      }
    }
  }
}

TEST_F(TreeFormsTest, ABadFileOfReadableNamesIsAnErrorInEveryForm) {
  const auto forms = WriteForms(
      folder_, "bad",
      WithImages({"n1/a.jpg"}, {{"class_names.txt", "n1\ta\x1b[2J\n"}}));
  EXPECT_THAT(MessageOf<DataError>([&] { (void)FindImages(folder_ / "bad"); }),
              HasSubstr("bad/class_names.txt: line 1: a control character"));
  for (const auto& [form, path] : forms) {
    EXPECT_THAT(
        MessageOf<DataError>([&, path = path] { (void)IndexData(path); }),
        HasSubstr(FileNameOf(path) +
                  "#class_names.txt: line 1: a control character"));
  }
}

TEST_F(TreeFormsTest, AnEndlessFileOfReadableNamesIsNotUnpacked) {
  ZipMember endless = DeflatedMember("class_names.txt", "n1\tcat");
  endless.bytes = kMaxLabelFileBytes + 1;
  const std::string path = folder_ / "a.zip";
  WriteFileAtomically(
      path,
      ZipBuilder().Add(StoredMember("n1/a.jpg", "x")).Add(endless).bytes());
  EXPECT_THAT(MessageOf<DataError>([&] { (void)IndexData(path); }),
              HasSubstr("a.zip#class_names.txt: the label files have more "));
}

TEST_F(TreeFormsTest, ATarOfTarsIsItsTree) {
  TarFile outer;
  for (const std::string name : {"n02", "n01"}) {
    outer.Add(name + ".tar",
              TarFile()
                  .Add("./" + name + "_7.JPEG", "\xff\xd8\xff " + name)
                  .Add(name + "_10.JPEG", "\xff\xd8\xff ten")
                  .End()
                  .text());
  }
  outer.End();
  const std::string path = folder_ / "ILSVRC2012_img_train.tar";
  WriteFileAtomically(path, outer.text());
  WriteFileAtomically(folder_ / "packed.tar.gz", Gzipped(outer.text()));
  for (const std::string& tar : {path, path, folder_ / "packed.tar.gz"}) {
    const std::optional<RecordIndex> index = IndexSplit(tar, "train");
    EXPECT_THAT(InOrder(tar == path ? "tar" : "gz", See(*index)),
                ElementsAre("1 n01_10.JPEG \xff\xd8\xff ten",
                            "1 n01_7.JPEG \xff\xd8\xff n01",
                            "2 n02_10.JPEG \xff\xd8\xff ten",
                            "2 n02_7.JPEG \xff\xd8\xff n02"));
    EXPECT_THAT(index->class_names(), ElementsAre("n01", "n02"));
  }
  WriteFileAtomically(path, outer.text().substr(0, 3000));
  EXPECT_THROW((void)IndexSplit(path, "train"), DataError);
}

// As GNU tar packs a folder whose duplicates are hard links.
TEST_F(TreeFormsTest, LinksInATarAreTheFilesThatTheyLeadTo) {
  const std::string inner = TarFile()
                                .Add("5.jpg", "\xff\xd8\xff five")
                                .AddLink("6.jpg", "5.jpg", '1')
                                .End()
                                .text();
  const TarFile tar = TarFile()
                          .Add("./cat/1.jpg", "\xff\xd8\xff one")
                          .AddLink("./cat/2.jpg", "./cat/1.jpg", '1')
                          .AddLink("dog/3.jpg", "../eel/4.jpg", '2')
                          .Add("eel/4.jpg", "\xff\xd8\xff four")
                          .AddLink("eel/7.jpg", "../../out.jpg", '2')
                          .AddLink("eel/8.jpg", "/eel/4.jpg", '2')
                          .Add("fox.tar", inner)
                          .End();
  WriteFileAtomically(folder_ / "a.tar", tar.text());
  WriteFileAtomically(folder_ / "a.tar.gz", Gzipped(tar.text()));
  for (const std::string form : {"a.tar", "a.tar", "a.tar.gz"}) {
    const RecordIndex index = IndexData(folder_ / form);
    EXPECT_THAT(See(index),
                UnorderedElementsAre(
                    "1 1.jpg \xff\xd8\xff one", "1 1.jpg \xff\xd8\xff one",
                    "2 4.jpg \xff\xd8\xff four", "3 4.jpg \xff\xd8\xff four",
                    "4 5.jpg \xff\xd8\xff five", "4 5.jpg \xff\xd8\xff five"))
        << form;
    EXPECT_THAT(index.notes(),
                Contains(HasSubstr("entries left out, as they are links to no "
                                   "file in the archive or their names lead "
                                   "out of it: 2, the first eel/7.jpg")));
  }
}

TEST_F(TreeFormsTest, LinksToLabelFilesInATarAreRead) {
  WriteFileAtomically(
      folder_ / "a.tar",
      TarFile()
          .Add("n1/a.jpg", "\xff\xd8\xff")
          .Add("names", "n1\tcat")
          .Add("old/class_names.txt", "n1\ttabby cat")
          .AddLink("class_names.txt", "old/class_names.txt", '1')
          .AddLink("words.txt", "names", '1')
          .End()
          .text());
  EXPECT_EQ(IndexData(folder_ / "a.tar").class_texts(),
            (ClassTexts{{"n1", "tabby cat"}}));
}

TEST_F(TreeFormsTest, ASparseImageInATarIsABadRecord) {
  WriteFileAtomically(folder_ / "a.tar",
                      TarFile()
                          .Add("cat/1.jpg", "\xff\xd8\xff")
                          .Add("dog/2.jpg", "\xff\xd8\xff", 'S')
                          .End()
                          .text());
  const RecordIndex index = IndexData(folder_ / "a.tar");
  ASSERT_EQ(index.size(), 2);
  EXPECT_THAT(MessageOf<DataError>([&] { (void)See(index); }),
              HasSubstr("2.jpg is a sparse file: pack the archive again"));
}

// As `tar -r` leaves it: unpacked, it has the last one.
TEST_F(TreeFormsTest, ATarWithAnImageTwiceIsRefused) {
  TarFile tar;
  tar.Add("cat/1.jpg", "\xff\xd8\xff old")
      .Add("dog/2.jpg", "\xff\xd8\xff")
      .Add("cat/1.jpg", "\xff\xd8\xff new")
      .End();
  const std::string path = folder_ / "x.tar";
  WriteFileAtomically(path, tar.text());
  EXPECT_THAT(MessageOf<DataError>([&] { (void)IndexSplit(path, "train"); }),
              HasSubstr("cat/1.jpg: the name occurs twice, first at byte 0"));
}

TEST_F(TreeFormsTest, ATarOfTarsOfSamplesIsNoTree) {
  for (const auto& [ending, label] :
       {std::pair{".cls", "3"}, {".json", R"({"label": 3})"}}) {
    const TarFile inner = TarFile()
                              .Add("1.jpg", "\xff\xd8\xff")
                              .Add(std::string("1") + ending, label)
                              .End();
    const std::string path = folder_ / "x.tar";
    WriteFileAtomically(
        path, TarFile().Add("train-0000.tar", inner.text()).End().text());
    EXPECT_THAT(
        MessageOf<UsageError>([&] { (void)IndexSplit(path, "train"); }),
        HasSubstr("x.tar#train-0000/: samples with labels of their own"));
  }
}

TEST_F(TreeFormsTest, FoldersInAnArchiveSayMoreThanItsName) {
  const auto forms =
      WriteForms(folder_, "train_and_val",
                 WithImages({"train/a/1.jpg", "train/b/2.jpg", "val/a/3.jpg"}));
  const auto plain = WriteForms(folder_, "val", WithImages({"a/1.jpg"}));
  for (const auto& [form, path] : forms) {
    EXPECT_EQ(IndexSplit(path, "train")->size(), 2) << form;
    EXPECT_EQ(IndexSplit(path, "validation")->size(), 1) << form;
    EXPECT_EQ(IndexSplit(plain.at(form), "validation")->size(), 1) << form;
    EXPECT_FALSE(IndexSplit(plain.at(form), "train")) << form;
    EXPECT_EQ(IndexSplit(path + "," + plain.at(form), "train")->size(), 2);
  }
}

TEST_F(TreeFormsTest, FoldersInAnArchiveSayMoreThanItsNameBesideOtherFiles) {
  const auto forms = WriteForms(
      folder_, "train",
      WithImages({"x.txt", "p/train/a/1.jpg", "p/train/b/2.jpg",
                  "p/val/a/3.jpg", "p/val/c/4.jpg", "p/val/c/5.jpg"}));
  const auto plain = WriteForms(folder_, "plain", WithImages({"a/6.jpg"}));
  for (const auto& [form, path] : forms) {
    const std::string ending = FileNameOf(path).substr(5);
    const auto folder_with = [&](const std::string& name) {
      const std::string folder = folder_ / (form + name.substr(0, 4));
      fs::create_directories(fs::path(folder + "/" + name).parent_path());
      fs::copy(path, folder + "/" + name + ending);
      return folder;
    };
    const std::string beside = folder_with("my_test_set");
    fs::copy(plain.at(form), beside + "/train.zip");
    for (const auto& [data, train, validation] :
         {std::tuple(folder_with("train"), 2, 3),
          {folder_with("test/data"), 2, 3},
          {beside, 3, 3},
          {beside + "/*", 3, 3},
          {path + "," + plain.at(form), 3, 3}}) {
      EXPECT_EQ(IndexSplit(data, "train")->size(), train) << data;
      EXPECT_EQ(IndexSplit(data, "validation")->size(), validation) << data;
      EXPECT_FALSE(IndexSplit(data, "test")) << data;
      EXPECT_EQ(IndexData(data).size(), train + validation) << data;
    }
  }
}

TEST_F(TreeFormsTest, ANameOfTwoSplitsIsRefusedUnlessFoldersInItDecide) {
  const auto forms = WriteForms(folder_, "train_val",
                                WithImages({"train/a/1.jpg", "val/a/2.jpg"}));
  const auto plain = WriteForms(folder_, "test-train", WithImages({"a/1.jpg"}));
  WriteShard(folder_ / "other.tfrecord");
  WriteShard(folder_ / "shards/a-train-val.tfrecord");
  WriteShard(folder_ / "shards/a-test.tfrecord");
  const std::string shard = folder_ / "shards/a-train-val.tfrecord";
  std::vector<std::string> refused = {folder_ / "shards", folder_ / "shards/*",
                                      shard + "," + (folder_ / "shards/*t.*")};
  for (const auto& [form, path] : forms) {
    for (const std::string& data :
         {path, path + "," + (folder_ / "other.tfrecord")}) {
      EXPECT_EQ(IndexSplit(data, "validation")->size(), 1) << data;
    }
    const std::string folder = folder_ / ("plain-" + form);
    fs::create_directories(folder);
    refused.push_back(folder);
    fs::copy(plain.at(form), folder);
  }
  for (const std::string& data : refused) {
    for (const std::string_view split : kSplits) {
      EXPECT_THAT(MessageOf<UsageError>([&] { (void)IndexSplit(data, split); }),
                  HasSubstr(": its name has words for two splits, t"))
          << data;
    }
    EXPECT_GT(IndexData(data).size(), 0) << data;
  }
  // A file that is the data is read, but not as what its first word is not.
  EXPECT_EQ(IndexSplit(shard, "train")->size(), IndexData(shard).size());
  EXPECT_FALSE(IndexSplit(shard, "validation"));
  WriteShard(folder_ / "folders/val/a-train-test.tfrecord");
  EXPECT_EQ(IndexSplit(folder_ / "folders", "validation")->size(), 1);
}

TEST_F(TreeFormsTest, ATarOfSamplesThatNamesAnotherSplitIsNotListed) {
  const auto write = [&](const std::string& name, const std::string& key) {
    WriteFileAtomically(folder_ / name, TarFile()
                                            .Add(key + ".cls", "0")
                                            .Add(key + ".jpg", "\xff\xd8\xff")
                                            .Add("val/b/1.jpg", "")
                                            .End()
                                            .text());
  };
  write("train-0.tar", "1");
  write("val-0.tar", "2");
  EXPECT_EQ(IndexSplit(folder_.path(), "train")->size(), 2);
  EXPECT_EQ(FindIndexState(*OpenSource(folder_ / "train-0.tar")),
            IndexState::kFresh);
  EXPECT_EQ(FindIndexState(*OpenSource(folder_ / "val-0.tar")),
            IndexState::kNone);
}

TEST_F(TreeFormsTest, AnArchiveOfAnotherSplitWithoutClassesIsLeftOut) {
  for (const auto& [form, path] :
       WriteForms(folder_, "test", WithImages({"test/1.jpg", "test/2.jpg"}))) {
    const auto train = WriteForms(folder_, "train", WithImages({"a/1.jpg"}));
    const std::string list = train.at(form) + "," + path;
    EXPECT_EQ(IndexSplit(list, "train")->size(), 1) << form;
    EXPECT_THROW((void)IndexSplit(list, "test"), UsageError) << form;
  }
}

TEST_F(TreeFormsTest, ASampleOfSeveralFilesIsNoTree) {
  using Names = std::vector<std::string>;
  for (const Names& names :
       {Names{"a/1.jpg", "a/1.txt", "b/2.jpg", "b/2.txt"},
        Names{"a/1.png", "a/1.seg.png", "b/2.png", "b/2.seg.png"},
        Names{"a/1.png", "a/1.seg.jpg", "b/2.png", "b/2.x"}}) {
    TarFile tar;
    for (const std::string& name : names) {
      tar.Add(name, "x");
    }
    WriteFileAtomically(folder_ / "samples.tar", tar.End().text());
    const RecordIndex index =
        IndexData(folder_ / "samples.tar", {.use_cache = false});
    EXPECT_EQ(index.format(0), RecordFormat::kTar) << names[1];
    EXPECT_EQ(index.size(), 2);
    EXPECT_EQ(index.label(0), kNoLabel);
  }
}

TEST_F(TreeFormsTest, ASplitThatIsNotThereIsAnErrorInEveryForm) {
  const auto forms = WriteForms(
      folder_, "data",
      WithImages({"train/cat/1.jpg", "train/dog/2.jpg", "test/cat/3.jpg"}));
  std::vector<std::string> all = {folder_ / "data"};
  for (const auto& [form, path] : forms) {
    all.push_back(path);
  }
  WriteShard(folder_ / "shards/train-00000-of-00001");
  WriteShard(folder_ / "shards/test-00000-of-00001");
  all.push_back(folder_ / "shards");
  all.push_back(folder_ / "shards/*");
  all.push_back((folder_ / "shards/train-00000-of-00001") + "," +
                (folder_ / "shards/test-00000-of-00001"));
  for (const std::string& data : all) {
    EXPECT_THAT(MessageOf<UsageError>(
                    [&] { (void)IndexSplitThatIsThere(data, "validation"); }),
                HasSubstr("has no images of split='validation'; there is train "
                          "and test"))
        << data;
    EXPECT_GT(IndexSplitThatIsThere(data, "Testing").size(), 0) << data;
  }
  EXPECT_THAT(MessageOf<UsageError>([&] {
                (void)IndexSplitThatIsThere(folder_ / "data", "vall");
              }),
              HasSubstr("split=vall: no such split"));
  // A file that says none is of every split.
  WriteShard(folder_ / "one.tfrecord");
  EXPECT_EQ(IndexSplitThatIsThere(folder_ / "one.tfrecord", "val").size(), 1);
}

TEST_F(TreeFormsTest, AFolderAroundThatOfTheRecordsIsAnErrorThatNamesThat) {
  WriteShard(folder_ / "set/1.0.0/set-train.tfrecord-00000-of-00001");
  WriteShard(folder_ / "set/2.0.0/set-train.tfrecord-00000-of-00001");
  for (const std::string& data : {folder_ / "set", folder_.path()}) {
    EXPECT_THAT(MessageOf<UsageError>(
                    [&] { (void)IndexSplitThatIsThere(data, "train"); }),
                EndsWith("none of train, validation and test; there are files "
                         "of records in " +
                         (folder_ / "set/2.0.0") + ": name that folder"));
  }
  fs::create_directories(folder_ / "empty");
  EXPECT_THAT(MessageOf<UsageError>([&] {
                (void)IndexSplitThatIsThere(folder_ / "empty", "train");
              }),
              EndsWith("none of train, validation and test"));
}

TEST_F(TreeFormsTest, AFileThatIsNamedByItselfIsReadWhateverItsNameSays) {
  for (const char* file :
       {"data/test.record", "data/train.tfrecord", "data/val-00001-of-00002"}) {
    WriteShard(folder_ / file);
  }
  const auto default_of = [&](const std::string& data) {
    return DefaultSplit(folder_ / data, "train");
  };
  EXPECT_EQ(default_of("data/test.record"), "test");
  EXPECT_EQ(default_of("data/val-00001-of-00002"), "validation");
  EXPECT_EQ(DefaultSplit(folder_ / "data/train.tfrecord", "validation"),
            "train");
  // A folder, a pattern and a list are data sets, which may have the split.
  EXPECT_EQ(default_of("data"), "train");
  EXPECT_EQ(default_of("data/te*"), "train");
  EXPECT_EQ(default_of("data/test.record," + (folder_ / "data/val*")), "train");
  EXPECT_EQ(default_of("data/gone.test.record"), "train");
  // What the user asks for is not there.
  EXPECT_THROW(
      (void)IndexSplitThatIsThere(folder_ / "data/test.record", "train"),
      UsageError);

  // In an archive, folders of splits count more than its name.
  WriteForms(folder_, "test",
             WithImages({"train/cat/1.jpg", "train/dog/2.jpg"}));
  EXPECT_EQ(default_of("test.zip"), "train");
  WriteForms(folder_, "testing", WithImages({"cat/1.jpg", "dog/2.jpg"}));
  EXPECT_EQ(default_of("testing.zip"), "test");
  EXPECT_EQ(IndexSplitThatIsThere(folder_ / "testing.zip", "test").size(), 2);
}

TEST_F(TreeFormsTest, OneClassIsNoted) {
  const auto forms = WriteForms(folder_, "one", WithImages({"cat/1.jpg"}));
  for (const std::string& data : {folder_ / "one", forms.at("zip")}) {
    EXPECT_THAT(IndexData(data).notes(),
                ElementsAre(HasSubstr("there is only one class, cat")));
  }
}

}  // namespace infeed::tree_forms_test
