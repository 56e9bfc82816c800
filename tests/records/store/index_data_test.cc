#include "records/store/index_data.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/number_bytes.h"
#include "records/example/imagenet_example.h"
#include "records/files/class_list.h"
#include "records/files/dataset_info.h"
#include "records/files/open_source.h"
#include "records/files/side_file.h"
#include "records/store/file_records.h"
#include "records/tfrecord/format.h"
#include "tests/support/environment_variable.h"
#include "tests/support/matchers.h"
#include "tests/support/raw_bytes.h"
#include "tests/support/seen_records.h"
#include "tests/support/tar_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"
#include "tests/support/zip_builder.h"

namespace infeed::index_data_test {

namespace fs = std::filesystem;

struct Picture {
  std::string folder;  // its class
  std::string name;
  std::string bytes;
  int label = 0;  // from 0
};

std::vector<Picture> Pictures() {
  return {{"cat", "a.jpg", "\xff\xd8\xff first", 0},
          {"cat", "b.jpg", "\xff\xd8\xff second one", 0},
          {"dog", "c.jpg", "\xff\xd8\xff third", 1}};
}

// One data set in every form, with the labels that each form gives.
class IndexDataTest : public ::testing::Test {
 protected:
  static Seen Expected(int first_label) {
    Seen seen;
    for (const Picture& picture : Pictures()) {
      seen.push_back(std::to_string(picture.label + first_label) + " " +
                     picture.name + " " + picture.bytes);
    }
    return seen;
  }

  std::string Write(const std::string& name, const std::string& bytes) const {
    fs::create_directories(fs::path(folder_ / name).parent_path());
    WriteFileAtomically(folder_ / name, bytes);
    return folder_ / name;
  }

  void WriteTree(const std::string& name) const {
    for (const Picture& picture : Pictures()) {
      Write(name + "/" + picture.folder + "/" + picture.name, picture.bytes);
    }
  }

  std::string WriteTar(const std::string& name) const {
    TarFile tar;
    for (const Picture& picture : Pictures()) {
      tar.Add(picture.name, picture.bytes)
          .Add(picture.name.substr(0, 1) + ".cls",
               std::to_string(picture.label));
    }
    return Write(name, tar.End().text());
  }

  std::string WriteZip(const std::string& name,
                       const std::string& top = "") const {
    ZipBuilder zip;
    for (const Picture& picture : Pictures()) {
      const std::string member = top + picture.folder + "/" + picture.name;
      zip.Add(picture.name == "b.jpg" ? DeflatedMember(member, picture.bytes)
                                      : StoredMember(member, picture.bytes));
    }
    return Write(name, zip.bytes());
  }

  std::string WriteShard(const std::string& name) const {
    std::string bytes;
    for (const Picture& picture : Pictures()) {
      AppendFrame(bytes, BuildImagenetExample({.label = picture.label + 1,
                                               .synset = {},
                                               .text = {},
                                               .filename = picture.name,
                                               .encoded = picture.bytes}));
    }
    return Write(name, bytes);
  }

  TemporaryFolder cache_;
  EnvironmentVariable cache_home_{"XDG_CACHE_HOME", cache_.path()};
  TemporaryFolder folder_;
};

TEST_F(IndexDataTest, EveryFormHasTheSameRecords) {
  WriteTree("tree/train");
  EXPECT_EQ(See(*IndexSplit(folder_ / "tree", "train")), Expected(1));
  EXPECT_EQ(See(*IndexSplit(WriteTar("one.tar"), "train")), Expected(0));
  EXPECT_EQ(See(*IndexSplit(WriteZip("one.zip"), "train")), Expected(1));
  EXPECT_EQ(See(*IndexSplit(WriteShard("one.tfrecord"), "train")), Expected(1));
}

TEST_F(IndexDataTest, AFileInAZipHasAChecksumAndOneInATarNone) {
  const auto zip = IndexSplit(WriteZip("one.zip"), "train");
  const auto tar = IndexSplit(WriteTar("one.tar"), "train");
  std::vector<std::byte> buffer;
  for (std::size_t i = 0; i < Pictures().size(); ++i) {
    const auto record = static_cast<std::int64_t>(i);
    EXPECT_EQ(RecordStore(*zip).ReadPayload(record, buffer).stored_crc,
              Crc32(Pictures()[i].bytes));
    EXPECT_EQ(RecordStore(*tar).ReadPayload(record, buffer).stored_crc,
              std::nullopt);
  }
}

TEST_F(IndexDataTest, SplitsHaveAllTheirNamesInFilesAndFolders) {
  WriteShard("a/Training-00000-of-00001");
  WriteShard("a/val-00000-of-00001");
  WriteShard("b/Train/train-00000-of-00001");
  WriteShard("b/dev/val-00000-of-00001");
  WriteTar("c/train/0.tar");
  WriteTar("c/Valid/0.tar");
  WriteZip("d/training/0.zip");
  WriteZip("d/eval/0.zip");
  for (const char* name : {"a", "b", "c", "d"}) {
    EXPECT_EQ(IndexSplit(folder_ / name, "train")->size(), 3) << name;
    EXPECT_EQ(IndexSplit(folder_ / name, "valid")->size(), 3) << name;
    EXPECT_EQ(IndexData(folder_ / name).size(), 6) << name;
  }
  const std::string list =
      (folder_ / "c/train/*.tar") + "," + (folder_ / "c/Valid/*.tar");
  EXPECT_EQ(IndexSplit(list, "train")->size(), 3);
  EXPECT_EQ(IndexSplit(list, "validation")->size(), 3);
}

TEST_F(IndexDataTest, TwoNamesForASplitAreRefused) {
  WriteShard("a/val-00000-of-00001");
  WriteShard("a/validation-00000-of-00001");
  WriteShard("b/val/val-00000-of-00001");
  WriteShard("b/dev/val-00000-of-00001");
  WriteTar("c/val/0.tar");
  WriteTar("c/Valid/0.tar");
  WriteZip("d/val.zip");
  WriteZip("d/eval.zip");
  for (const char* name : {"a", "b", "c", "d"}) {
    EXPECT_THAT(MessageOf<UsageError>(
                    [&] { (void)IndexSplit(folder_ / name, "validation"); }),
                HasSubstr("two names for validation: remove or rename one"))
        << name;
  }
}

TEST_F(IndexDataTest, NamesWithCommasAndBracketsAreFound) {
  WriteShard("v{1,2}/train-00000-of-00001");
  EXPECT_EQ(IndexSplit(folder_ / "v{1,2}/train-*", "train")->size(), 3);
  WriteShard("[v1], new/train-00000-of-00001");
  const std::string folder = folder_ / "[v1], new";
  EXPECT_EQ(IndexSplit(folder, "train")->size(), 3);
  EXPECT_EQ(IndexSplit(folder + "/train-*", "train")->size(), 3);
  EXPECT_EQ(IndexSplit(WriteTar("b.tar") + "," + folder + "/train-*", "train")
                ->size(),
            6);
  EXPECT_EQ(IndexData(WriteTar("b.tar") + "," + folder).size(), 6);
}

TEST_F(IndexDataTest, AFolderOfImagesInAListIsRefused) {
  WriteTree("tree");
  EXPECT_THAT(MessageOf<UsageError>([&] {
                (void)IndexSplit(WriteTar("b.tar") + "," + (folder_ / "tree"),
                                 "train");
              }),
              HasSubstr("a folder of images cannot be part of a list"));
}

TEST_F(IndexDataTest, ParquetFilesAreToBeConverted) {
  fs::create_directories(folder_ / "hf/data");
  WriteFileAtomically(folder_ / "hf/data/0000.parquet", "PAR1");
  const std::string hf = folder_ / "hf";
  for (const std::string& data : {hf, hf + "," + WriteTar("b.tar")}) {
    EXPECT_THAT(MessageOf<UsageError>(
                    [&] { (void)IndexSplitThatIsThere(data, "train"); }),
                HasSubstr("`infeed convert " + hf + "/data SHARDS`"));
  }
}

TEST_F(IndexDataTest, ContentSaysWhatAFileIsNotItsName) {
  fs::rename(WriteTar("a.tar"), folder_ / "a");
  fs::rename(WriteZip("b.zip"), folder_ / "b.tar");
  const RecordIndex index =
      IndexData((folder_ / "a") + "," + (folder_ / "b.tar"));
  EXPECT_EQ(index.format(0), RecordFormat::kTar);
  EXPECT_EQ(index.format(1), RecordFormat::kZip);
  EXPECT_EQ(index.size(), 6);
}

TEST_F(IndexDataTest, APackedTarIsReadInOrder) {
  const std::string tar = ReadWhole(WriteTar("a.tar"), 1 << 20);
  WriteFileAtomically(folder_ / "b.tar.gz", Gzipped(tar));
  const RecordIndex index = IndexData(folder_ / "b.tar.gz");
  EXPECT_EQ(index.compression(0), Compression::kGzip);
  EXPECT_EQ(See(index), Expected(0));
  EXPECT_EQ(See(IndexData(folder_ / "b.tar.gz")), Expected(0)) << "kept index";
}

TEST_F(IndexDataTest, AZipsDirectoryIsReadOnce) {
  const std::string path = WriteZip("a.zip");
  EXPECT_THAT(IndexData(path).notes(), IsEmpty());
  const auto time = fs::last_write_time(path);
  // Nothing but the entries is right any more.
  std::string bytes = ReadWhole(path, 1 << 20);
  bytes.replace(bytes.size() - 22, 22, 22, 'x');
  std::ofstream(path, std::ios::binary) << bytes;
  fs::last_write_time(path, time);
  EXPECT_EQ(See(IndexData(path)), Expected(1));
  EXPECT_EQ(IndexData(path).class_names().size(), 2);
  EXPECT_THROW((void)IndexData(path, {.use_cache = false}), DataError);
}

TEST_F(IndexDataTest, AKeptZipHasItsSplitsAndLeavesOutTheSame) {
  ZipBuilder zip;
  zip.Add(StoredMember("train/cat/a.jpg", "\xff\xd8\xff a"))
      .Add(StoredMember("val/a long name/b.jpg", "\xff\xd8\xff b"))
      .Add(StoredMember("../out/c.jpg", "\xff\xd8\xff c"));
  WriteFileAtomically(folder_ / "a.zip", zip.bytes());
  for (const char* start : {"first", "second"}) {
    const std::optional<RecordIndex> val =
        IndexSplit(folder_ / "a.zip", "validation");
    EXPECT_THAT(See(*val), ElementsAre("1 b.jpg \xff\xd8\xff b")) << start;
    EXPECT_THAT(val->class_names(), ElementsAre("a long name", "cat")) << start;
    EXPECT_THAT(val->notes(),
                ElementsAre(HasSubstr("the first ../out/c.jpg"),
                            folder_ / "a.zip" +
                                ": 1 class of validation is not in train: a "
                                "long name"))
        << start;
    EXPECT_FALSE(IndexSplit(folder_ / "a.zip", "test")) << start;
  }
}

TEST_F(IndexDataTest, AStaleIndexIsNamed) {
  for (const std::string& path :
       {WriteTar("a.tar"), WriteZip("a.zip"), WriteShard("a.tfrecord")}) {
    EXPECT_THAT(IndexData(path).notes(), IsEmpty()) << path;
    fs::last_write_time(path,
                        fs::last_write_time(path) - std::chrono::hours(1));
    EXPECT_EQ(FindIndexState(*OpenSource(path)), IndexState::kStale) << path;
    EXPECT_THAT(IndexData(path, {.use_cache = false}).notes(), IsEmpty());
    EXPECT_THAT(IndexData(path).notes(),
                ElementsAre(AllOf(HasSubstr(FileNameOf(path) + ".index: "),
                                  HasSubstr("was indexed again"))));
    EXPECT_THAT(IndexData(path).notes(), IsEmpty()) << path;
  }
}

// They end where the first of joined tars does, and their magics were others.
TEST_F(IndexDataTest, IndexesOfOlderProgramsAreMadeAgain) {
  const std::string folders = TarFile()
                                  .Add("cat/a.jpg", "\xff\xd8\xff")
                                  .Add("dog/b.jpg", "\xff\xd8\xff")
                                  .End()
                                  .text();
  Write("folders.tar", folders);
  for (const auto& [path, magic, old] :
       {std::tuple(WriteTar("a.tar"), "infeedTC", "infeedTB"),
        std::tuple(folder_ / "folders.tar", "infeedAM", "infeedAL")}) {
    EXPECT_THAT(IndexData(path).notes(), IsEmpty());
    const std::string index =
        folder_ / (".infeed/" + FileNameOf(path) + ".index");
    const SideFile kept = ReadSideFile(index, magic).value();
    WriteSideFile(index, old, kept.source, kept.payload);
    EXPECT_THAT(IndexData(path).notes(),
                ElementsAre(HasSubstr(index + ": was made for another version "
                                              "of its shard or by another one "
                                              "of infeed")));

    const std::string joined =
        Write(FileNameOf(path), ReadWholeFile(path, 1 << 20) + folders);
    WriteSideFile(index, old, SideSource::Of(FileSource(joined)), kept.payload);
    EXPECT_THAT(MessageOf<DataError>([&] { (void)IndexData(joined); }),
                HasSubstr("data behind the end of the tar"));
  }
}

TEST_F(IndexDataTest, DamagedIndexesOfAZipAreNotUsed) {
  const std::string path = WriteZip("a.zip");
  EXPECT_EQ(See(IndexData(path)), Expected(1));
  const std::string index = folder_ / ".infeed/a.zip.index";
  const SideFile good = ReadSideFile(index, "infeedAM").value();
  // Each byte in turn begins a larger number, with the right checksum.
  for (std::size_t at = 0; at < good.payload.size(); ++at) {
    std::string bad = good.payload;
    bad[at] = '\xFF';
    WriteSideFile(index, "infeedAM", good.source, bad);
    EXPECT_EQ(IndexData(path).size(), 3) << at;
  }
}

// A class takes 32 bytes of memory and one of the file.
TEST_F(IndexDataTest, AnIndexOfMoreClassesThanThereMayBeIsNotUsed) {
  const std::string path = WriteZip("a.zip");
  EXPECT_EQ(See(IndexData(path)), Expected(1));
  const std::string index = folder_ / ".infeed/a.zip.index";
  const SideFile good = ReadSideFile(index, "infeedAM").value();
  for (const std::uint64_t classes : {3U, kMostClasses + 1U}) {
    std::string payload(3, '\0');
    AppendVarint(classes, payload);
    payload.append(classes + 3, '\0');  // without names, notes, images, texts
    WriteSideFile(index, "infeedAM", good.source, payload);
    EXPECT_EQ(IndexData(path).size(), classes == 3 ? 0 : 3);
  }
}

TEST_F(IndexDataTest, SplitsComeFromFoldersAndNames) {
  WriteTar("named/set-train-0.tar");
  WriteTar("named/set-validation-0.tar");
  WriteTar("plain/000.tar");
  WriteTar("plain/001.tar");
  WriteZip("zips/all.zip", "photos/val/");
  EXPECT_EQ(IndexSplit(folder_ / "named", "train")->size(), 3);
  EXPECT_EQ(IndexSplit(folder_ / "named", "val")->size(), 3);
  EXPECT_FALSE(IndexSplit(folder_ / "named", "test"));
  EXPECT_EQ(IndexSplit(folder_ / "named/*.tar", "validation")->size(), 3);
  EXPECT_EQ(IndexSplit(folder_ / "plain", "train")->size(), 6);
  EXPECT_FALSE(IndexSplit(folder_ / "plain", "validation"));
  EXPECT_EQ(IndexSplit(folder_ / "plain/{000..001}.tar", "train")->size(), 6);
  EXPECT_EQ(IndexSplit(folder_ / "zips", "validation")->size(), 3);
  EXPECT_FALSE(IndexSplit(folder_ / "zips", "train"));
}

TEST_F(IndexDataTest, AnIndexOfAllSaysItsSplits) {
  WriteTree("set/train");
  WriteTree("set/val");
  WriteTree("plain");
  WriteZip("set.zip", "val/");
  EXPECT_THAT(IndexData(folder_ / "set").splits(),
              ElementsAre("train", "validation"));
  EXPECT_THAT(IndexSplit(folder_ / "set", "train")->splits(),
              ElementsAre("train"));
  EXPECT_THAT(IndexData(folder_ / "plain").splits(), ElementsAre("train"));
  EXPECT_THAT(IndexData(folder_ / "set.zip").splits(),
              ElementsAre("validation"));
}

TEST_F(IndexDataTest, AFileThatNamesNoSplitBesideOthersThatDoIsForTraining) {
  for (const char* name : {"train-0", "val-0", "extra"}) {
    WriteShard(std::string("records/") + name + ".tfrecord");
    WriteTar(std::string("tars/") + name + ".tar");
  }
  for (const std::string form : {"records", "tars"}) {
    for (const std::string& data : {folder_ / form, folder_ / (form + "/*")}) {
      EXPECT_EQ(IndexSplit(data, "train")->size(), 6) << data;
      EXPECT_EQ(IndexSplit(data, "validation")->size(), 3) << data;
      EXPECT_FALSE(IndexSplit(data, "test")) << data;
    }
  }
}

TEST_F(IndexDataTest, TarsOfAnotherSizeThanListedAreRefused) {
  const auto bytes = static_cast<std::int64_t>(
      fs::file_size(WriteTar("set/train-000000.tar")));
  const auto describe = [&](std::int64_t listed) {
    WriteDatasetInfo(folder_ / "set",
                     {.classes = {"cat", "dog"},
                      .splits = {{.name = "train",
                                  .records = 3,
                                  .shards = {{"train-000000.tar", 3, listed,
                                              "00000000"}}}}});
  };
  describe(bytes);
  EXPECT_EQ(IndexSplit(folder_ / "set", "train")->size(), 3);
  describe(bytes + 512);
  EXPECT_THAT(
      MessageOf<DataError>([&] { (void)IndexSplit(folder_ / "set", "train"); }),
      HasSubstr("1 shard differs from dataset.json: "));
}

TEST_F(IndexDataTest, AFolderThatLacksAFileOfASetIsRefusedInEveryForm) {
  for (const std::string& path :
       {WriteShard("a/set-train.tfrecord-00001-of-00002"),
        WriteShard("b/x-00001-of-00002.tfrecord"),
        WriteTar("c/train-00001-of-00002.tar"),
        WriteZip("d/train/x-00001-of-00002.zip")}) {
    const std::string folder = path.substr(0, folder_.path().size() + 2);
    std::string missing = "1 shard is missing: " + path;
    missing.replace(missing.find("00001"), 5, "00000");
    EXPECT_THAT(
        MessageOf<DataError>([&] { (void)IndexSplit(folder, "train"); }),
        StartsWith(missing + ";"));
    EXPECT_FALSE(IndexSplit(folder, "validation")) << folder;
    std::vector<std::string> said;
    const OnShardSetFaults policy = FaultsPolicy(
        true, [&](const std::string& line) { said.push_back(line); });
    EXPECT_EQ(IndexSplit(folder, "train", {.on_faults = policy})->size(), 3);
    EXPECT_THAT(said, ElementsAre(StartsWith(missing)));
  }
  // It may have a folder for each split.
  WriteZip("e/x-00001-of-00002.zip");
  for (const char* split : {"train", "validation"}) {
    EXPECT_THROW((void)IndexSplit(folder_ / "e", split), DataError) << split;
  }
}

TEST_F(IndexDataTest, AListThatNamesAFileTwiceIsRefused) {
  const std::string shard = WriteShard("set/train-00000-of-00001");
  const std::string set = folder_ / "set";
  for (const std::string& more :
       {set + "/", set + "/train-*", shard, set + "/../set/train-*"}) {
    for (const std::string& first : {set, set + "/*"}) {
      EXPECT_THAT(MessageOf<UsageError>(
                      [&] { (void)IndexSplit(first + "," + more, "train"); }),
                  HasSubstr("train-00000-of-00001 is in the list already"))
          << first << " " << more;
    }
  }
  WriteShard("other/train-00000-of-00001");
  EXPECT_EQ(IndexSplit(set + "," + (folder_ / "other"), "train")->size(), 6);
}

TEST_F(IndexDataTest, AListHasOneOrderInEverySplit) {
  const std::string night = WriteShard("night.tfrecord");
  const std::string day = WriteShard("day.tfrecord");
  const std::string tar = WriteTar("part9.tar");
  const std::string other_tar = WriteTar("part10.tar");
  const auto expect = [](const std::vector<std::string>& list,
                         const std::vector<std::string>& files) {
    std::string data;
    for (const std::string& entry : list) {
      data += entry + ",";
    }
    EXPECT_EQ(IndexSplit(data, "train")->shards(), files) << data;
    for (const char* split : {"", "train"}) {
      EXPECT_EQ(IndexSplitThatIsThere(data, split).shards(), files) << data;
    }
    return data;
  };
  for (const std::vector<std::string>& list :
       {std::vector{night, day}, {day, night}, {tar, other_tar}}) {
    const std::string data = expect(list, list);
    EXPECT_EQ(IndexSplitThatIsThere(data, "validation").shards(), list);
  }
  const std::string b = WriteShard("B/train-00000-of-00001");
  const std::string a = WriteShard("A/train-00000-of-00001");
  expect({folder_ / "B", folder_ / "A"}, {b, a});
  expect({tar, folder_ / "B", day, folder_ / "A"}, {tar, b, day, a});
  expect({folder_ / "part{9..10}.tar"}, {tar, other_tar});
}

TEST_F(IndexDataTest, ClassesOfSeveralZipsAreOneList) {
  WriteZip("a.zip");
  WriteFileAtomically(
      folder_ / "b.zip",
      ZipBuilder().Add(StoredMember("bird/x.jpg", "\xff\xd8\xff x")).bytes());
  const RecordIndex index =
      IndexData((folder_ / "a.zip") + "," + (folder_ / "b.zip"));
  EXPECT_THAT(index.class_names(), ElementsAre("bird", "cat", "dog"));
  EXPECT_THAT(See(index).front(), HasSubstr("2 a.jpg"));
  EXPECT_THAT(See(index).back(), HasSubstr("1 x.jpg"));
}

TEST_F(IndexDataTest, ShardsComeBeforeFoldersBesideThem) {
  WriteShard("data/train-00000-of-00001");
  WriteTree("data/previews");
  EXPECT_EQ(IndexSplit(folder_ / "data", "train")->shards(),
            std::vector{folder_ / "data/train-00000-of-00001"});
  EXPECT_FALSE(IndexSplit(folder_ / "data", "validation"));
}

TEST_F(IndexDataTest, AFolderOfClassesWithTheArchiveItCameInIsAFolder) {
  WriteTree("data");
  fs::rename(WriteZip("data.zip"), folder_ / "data/data.zip");
  EXPECT_TRUE(IndexSplit(folder_ / "data", "train")->is_of_images());
}

TEST_F(IndexDataTest, NothingOfTheKindIsSaid) {
  fs::create_directories(folder_ / "empty");
  EXPECT_FALSE(IndexSplit(folder_ / "empty", "train"));
  EXPECT_THROW((void)IndexSplit(folder_ / "gone", "train"), IoError);
  EXPECT_THAT(MessageOf<UsageError>(
                  [&] { (void)IndexSplit("pipe:cat a.tar", "train"); }),
              HasSubstr("no random access"));
}

TEST_F(IndexDataTest, AFileThatChangedSizeIsBadUntilTheNextStart) {
  WriteTree("data");
  const std::optional<RecordIndex> before =
      IndexSplit(folder_ / "data", "train");
  std::ofstream(folder_ / "data/cat/a.jpg", std::ios::app) << " and more";
  EXPECT_THROW((void)See(*before), DataError);
  EXPECT_THAT(See(*IndexSplit(folder_ / "data", "train")).front(),
              HasSubstr("first and more"));
}

TEST_F(IndexDataTest, WhatAFolderLeavesOutIsNamed) {
  WriteTree("data");
  WriteFileAtomically(folder_ / "data/cat/x.gif", "GIF89a");
  fs::create_directories(folder_ / "data/empty");
  EXPECT_THAT(IndexSplit(folder_ / "data", "train")->notes(),
              ElementsAre(HasSubstr("data/empty: skipped, no images in it"),
                          HasSubstr("GIF files left out: 1, such as " +
                                    (folder_ / "data/cat/x.gif"))));
  for (int i = 0; i < 20; ++i) {
    fs::create_directories(folder_ / ("data/empty" + std::to_string(i)));
  }
  EXPECT_EQ(IndexSplit(folder_ / "data", "train")->notes().size(), 5);
}

}  // namespace infeed::index_data_test
