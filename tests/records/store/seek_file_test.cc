#include "records/store/seek_file.h"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "base/atomic_file.h"
#include "records/bytes/crc32c.h"
#include "records/store/record_index.h"
#include "records/store/seek_feature.h"
#include "tests/support/bytes.h"
#include "tests/support/environment_variable.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

// Two shards; the first has three records, the second one.
class SeekFileTest : public ::testing::Test {
 protected:
  SeekFileTest() {
    RecordFile().Add("a").Add("").Add("hello").Write(first_);
    RecordFile().Add("b").Write(second_);
    MakeFolder(folder_ / ".infeed");
  }

  // Entries of the first shard: "one", none, "three".
  void WriteFirst() const {
    SeekFileWriter writer(FileSource(first_), 8);
    writer.Append("one");
    writer.Append("");
    writer.Append("three");
    writer.Close();
    EXPECT_EQ(writer.path(), file_);
  }
  [[nodiscard]] std::unique_ptr<const SeekFile> Find() const {
    return SeekFile::Find(first_, FileSource(first_).size(), 3);
  }
  static std::string Read(const SeekFile& file, std::int64_t record) {
    std::vector<std::byte> buffer;
    return AsText(file.Read(record, 100, buffer));
  }
  static std::string Read(const SeekStore& store, std::int64_t record) {
    std::vector<std::byte> buffer;
    return AsText(store.Read(record, buffer));
  }

  const TemporaryFolder folder_;
  const std::string first_ = folder_ / "train-00000-of-00002";
  const std::string second_ = folder_ / "train-00001-of-00002";
  const std::string file_ = folder_ / ".infeed/train-00000-of-00002.seek";
};

TEST_F(SeekFileTest, GivesBackWhatWasWritten) {
  EXPECT_EQ(Find(), nullptr);
  WriteFirst();
  const auto file = Find();
  ASSERT_NE(file, nullptr);
  const FileSource shard(first_);
  EXPECT_EQ(file->info(), (SeekFileInfo{.shard_size = shard.size(),
                                        .shard_version = shard.version(),
                                        .records = 3,
                                        .run = 8}));
  EXPECT_EQ(Read(*file, 0), "one");
  EXPECT_EQ(Read(*file, 1), "");
  EXPECT_EQ(Read(*file, 2), "three");
  std::vector<std::byte> buffer;
  EXPECT_EQ(AsText(file->Read(2, 5, buffer)), "three");
  EXPECT_TRUE(file->Read(2, 4, buffer).empty()) << "longer than allowed";
}

TEST_F(SeekFileTest, IsOnlyThereWhenItIsWhole) {
  {
    SeekFileWriter writer(FileSource(first_), 0);
    writer.Append("one");
  }
  EXPECT_FALSE(std::filesystem::exists(file_));
}

TEST_F(SeekFileTest, IsNotForAShardOfAnotherSizeOrNumberOfRecords) {
  WriteFirst();
  const std::int64_t size = FileSource(first_).size();
  EXPECT_NE(SeekFile::Find(first_, size, 3), nullptr);
  EXPECT_EQ(SeekFile::Find(first_, size + 1, 3), nullptr);
  EXPECT_EQ(SeekFile::Find(first_, size, 4), nullptr);
  std::filesystem::last_write_time(first_, {});  // It was copied.
  ASSERT_NE(Find(), nullptr);
  EXPECT_NE(Find()->info().shard_version, FileSource(first_).version());
}

// Damage is never more than no entry, or one that its own checksum refuses.
TEST_F(SeekFileTest, IsSafeWhateverItsBytes) {
  WriteFirst();
  const std::string bytes = ReadWholeFile(file_, 1000);
  int found = 0;
  for (std::size_t place = 0; place < bytes.size(); ++place) {
    for (const int value : {0x00, 0x7F, 0x80, 0xFF}) {
      std::string damaged = bytes;
      damaged[place] = static_cast<char>(value);
      std::ofstream(file_, std::ios::binary) << damaged;
      if (const auto file = Find()) {
        ++found;
        for (const int record : {0, 1, 2}) {
          EXPECT_LE(Read(*file, record).size(), bytes.size());
        }
      }
    }
    std::ofstream(file_, std::ios::binary) << bytes.substr(0, place);
    EXPECT_EQ(Find(), nullptr);
  }
  EXPECT_GT(found, 0);
}

TEST_F(SeekFileTest, AnEntryOutsideTheFileIsNone) {
  WriteFirst();
  std::string bytes = ReadWholeFile(file_, 1000);
  // The offset of the entries' end is the last 8 bytes before the footer.
  for (const std::int64_t end :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 40,
        std::numeric_limits<std::int64_t>::max()}) {
    for (std::size_t i = 0; i < 8; ++i) {
      bytes[bytes.size() - 52 - 8 + i] =
          static_cast<char>(static_cast<std::uint64_t>(end) >> (8 * i));
    }
    std::ofstream(file_, std::ios::binary) << bytes;
    const auto file = Find();
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(Read(*file, 0), "one");
    EXPECT_EQ(Read(*file, 2), "");
  }
}

// It is mapped, and losing mapped bytes is a signal.
TEST_F(SeekFileTest, HasNoEntriesOnceItLosesItsBytes) {
  WriteFirst();
  const auto file = Find();
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(Read(*file, 0), "one");
  std::filesystem::resize_file(file_, 0);
  EXPECT_EQ(Read(*file, 0), "");
  EXPECT_EQ(Read(*file, 2), "");
}

TEST_F(SeekFileTest, AStoreFindsTheEntriesOfAllShards) {
  const RecordIndex index({first_, second_});
  EXPECT_EQ(Read(SeekStore(index), 3), "");
  WriteFirst();
  SeekFileWriter writer(FileSource(second_), 0);
  writer.Append("b's");
  writer.Close();
  const SeekStore store(index, 1);  // Each closes the other's.
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(Read(store, 0), "one");
    EXPECT_EQ(Read(store, 3), "b's");
    EXPECT_EQ(Read(store, 1), "");
    EXPECT_EQ(Read(store, 2), "three");
  }
}

TEST_F(SeekFileTest, TheFilesOfAnImageFolderHaveOneTogether) {
  MakeFolder(folder_ / "photos");
  std::vector<LabelledImage> files;
  for (const char* name : {"a.jpg", "b.jpg"}) {
    files.push_back({.path = folder_ / ("photos/" + std::string(name))});
    WriteFileAtomically(files.back().path, name);
  }
  const RecordIndex images =
      RecordIndex::OfImages(files, {.kept_root = folder_ / "photos"});
  EXPECT_EQ(Read(SeekStore(images), 1), "");
  SeekFileWriter writer(images, 0);
  writer.Append("one");
  writer.Append("two");
  writer.Close();
  EXPECT_EQ(Read(SeekStore(images), 0), "one");
  EXPECT_EQ(Read(SeekStore(images), 1), "two");
  files.pop_back();
  EXPECT_EQ(Read(SeekStore(RecordIndex::OfImages(
                     files, {.kept_root = folder_ / "photos"})),
                 0),
            "")
      << "of other files";
  EXPECT_EQ(Read(SeekStore(RecordIndex::OfImages(files)), 0), "");
}

// Adds to the first shard; of a name that begins with '!' whatever is there.
void Add(const RecordIndex& index, const std::vector<std::string>& sealed) {
  AddToSeekFile(index, 0, kImageKey, [&](std::int64_t number) {
    const std::string& one = sealed[static_cast<std::size_t>(number)];
    return AddedSeekIndex{.sealed = one, .replaces = one.starts_with('!')};
  });
}

TEST_F(SeekFileTest, KeepsTheLongerOfTwoEntriesUnlessOneReplaces) {
  const RecordIndex index({first_, second_});
  SeekStore store(index);
  EXPECT_EQ(Read(store, 2), "");
  Add(index, {"one", "", "three"});
  EXPECT_EQ(Find()->info().run, kFoundRun);
  EXPECT_EQ(Read(store, 2), "") << "a file is looked for once";
  store.Reopen(0);
  EXPECT_EQ(Read(store, 2), "three");
  Add(index, {"longer", "two", "3"});
  EXPECT_EQ(Read(store, 0), "one");
  store.Reopen(0);
  EXPECT_EQ(Read(store, 0), "longer");
  EXPECT_EQ(Read(store, 1), "two");
  EXPECT_EQ(Read(store, 2), "three");
  Add(index, {"", "", "!3"});
  store.Reopen(0);
  EXPECT_EQ(Read(store, 0), "longer");
  EXPECT_EQ(Read(store, 2), "!3");
}

TEST_F(SeekFileTest, LosesNothingThatSeveralAddAtOnce) {
  const RecordIndex index({first_, second_});
  std::vector<std::jthread> adders;
  for (int record = 0; record < 3; ++record) {
    adders.emplace_back([&, record] {
      for (int bytes = 1; bytes <= 20; ++bytes) {
        std::vector<std::string> sealed(3);
        sealed[static_cast<std::size_t>(record)] =
            std::string(static_cast<std::size_t>(bytes), 'x');
        Add(index, sealed);
      }
    });
  }
  adders.clear();
  const auto file = Find();
  ASSERT_NE(file, nullptr);
  for (int record = 0; record < 3; ++record) {
    EXPECT_EQ(Read(*file, record), std::string(20, 'x'));
  }
}

// Nothing appears beside photographs.
TEST_F(SeekFileTest, LiesInTheCacheWhenAddedForAnImageFolder) {
  const EnvironmentVariable cache("XDG_CACHE_HOME", folder_ / "cache");
  MakeFolder(folder_ / "mine/photos");
  const std::vector<LabelledImage> files = {
      {.path = folder_ / "mine/photos/a.jpg", .label = 1}};
  const RecordIndex images =
      RecordIndex::OfImages(files, {.kept_root = folder_ / "mine/photos"});
  AddToSeekFile(images, 0, kImageKey,
                [](std::int64_t) { return AddedSeekIndex{.sealed = "one"}; });
  EXPECT_FALSE(std::filesystem::exists(folder_ / "mine/.infeed"));
  EXPECT_EQ(Read(SeekStore(images), 0), "one");
}

TEST_F(SeekFileTest, IsNotMadeForAShardThatHasChanged) {
  const RecordIndex index({first_, second_});
  RecordFile().Add("other").Write(first_);
  Add(index, {"one", "two", "three"});
  EXPECT_FALSE(std::filesystem::exists(file_));
}

const std::string kJpeg(1000, 'j');
const std::string kBody = "places";

SeekSeal SealOf(const std::string& sealed, const std::string& jpeg = kJpeg) {
  const OpenedSeekIndex opened = OpenSeekIndex(AsBytes(sealed), AsBytes(jpeg));
  EXPECT_EQ(AsText(opened.body), opened.seal == SeekSeal::kGood ? kBody : "");
  return opened.seal;
}

// The output of a writer of another version.
std::string WithVersion(char version) {
  std::string sealed = SealSeekIndex(kBody, AsBytes(kJpeg));
  sealed[2] = version;
  sealed.resize(sealed.size() - 4);
  const std::uint32_t crc = Crc32c(AsBytes(sealed));
  for (int i = 0; i < 4; ++i) {
    sealed.push_back(static_cast<char>(crc >> (8 * i)));
  }
  return sealed;
}

TEST(SeekFeatureTest, OpensForItsJpeg) {
  EXPECT_EQ(SealOf(SealSeekIndex(kBody, AsBytes(kJpeg))), SeekSeal::kGood);
  EXPECT_EQ(SealOf(WithVersion(1)), SeekSeal::kGood);
}

TEST(SeekFeatureTest, HasTheBytesOfItsFormat) {
  EXPECT_EQ(SealSeekIndex("", AsBytes("123456789")),
            std::string("sk\x01\0\x09\0\0\0\x83\x92\x06\xE3", 12) +
                SealSeekIndex("", AsBytes("123456789")).substr(12));
  EXPECT_EQ(SealSeekIndex(kBody, AsBytes(kJpeg)).size(), kBody.size() + 16);
}

TEST(SeekFeatureTest, IsRefusedForAnotherJpeg) {
  const std::string sealed = SealSeekIndex(kBody, AsBytes(kJpeg));
  std::string changed = kJpeg;
  changed[500] = 'k';
  EXPECT_EQ(SealOf(sealed, changed), SeekSeal::kOtherJpeg);
  EXPECT_EQ(SealOf(sealed, kJpeg + "j"), SeekSeal::kOtherJpeg);
  EXPECT_EQ(SealOf(sealed, ""), SeekSeal::kOtherJpeg);
}

TEST(SeekFeatureTest, IsRefusedWhenItIsDamaged) {
  const std::string sealed = SealSeekIndex(kBody, AsBytes(kJpeg));
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    std::string damaged = sealed;
    damaged[i] = static_cast<char>(~damaged[i]);
    EXPECT_EQ(SealOf(damaged), SeekSeal::kDamaged) << i;
    EXPECT_EQ(SealOf(sealed.substr(0, i)), SeekSeal::kDamaged) << i;
  }
  EXPECT_EQ(SealOf(sealed + '\0'), SeekSeal::kDamaged);
}

TEST(SeekFeatureTest, IsRefusedWithAVersionOfLaterPrograms) {
  EXPECT_EQ(SealOf(WithVersion(2)), SeekSeal::kUnknownVersion);
  EXPECT_EQ(SealOf(WithVersion(0)), SeekSeal::kUnknownVersion);
}

// The JPEG of a record whose checksum is known, wherever it lies in it.
TEST(SeekFeatureTest, TakesTheJpegsChecksumFromTheRecords) {
  for (const std::size_t before : {0, 1, 300}) {
    for (const std::size_t behind : {0, 1, 77}) {
      std::string record =
          std::string(before, 'b') + kJpeg + std::string(behind, 'a');
      const std::string sealed = SealSeekIndex(kBody, AsBytes(kJpeg));
      const auto open = [&] {
        const auto bytes = AsBytes(record);
        return OpenSeekIndex(AsBytes(sealed),
                             bytes.subspan(before, kJpeg.size()),
                             {.bytes = bytes, .crc32c = Crc32c(bytes)})
            .seal;
      };
      EXPECT_EQ(open(), SeekSeal::kGood) << before << " " << behind;
      record[before + 3] = 'k';
      EXPECT_EQ(open(), SeekSeal::kOtherJpeg) << before << " " << behind;
    }
  }
}

TEST(SeekFeatureTest, ReadsTheJpegWhereItLiesInNoRecord) {
  const std::string sealed = SealSeekIndex(kBody, AsBytes(kJpeg));
  const std::string record = "another";
  EXPECT_EQ(OpenSeekIndex(AsBytes(sealed), AsBytes(kJpeg),
                          {.bytes = AsBytes(record), .crc32c = 1})
                .seal,
            SeekSeal::kGood);
}

}  // namespace
}  // namespace infeed
