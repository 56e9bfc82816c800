#include "records/archives/zip_directory.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/bytes/byte_source.h"
#include "records/bytes/little_endian.h"
#include "tests/support/bytes.h"
#include "tests/support/hex.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"
#include "tests/support/zip_builder.h"

namespace infeed::zip_directory_test {

using Json = nlohmann::json;

const std::string kFolder = INFEED_TEST_DATA;
constexpr std::size_t kEndBytes = 22;

std::string ErrorOf(const std::string& bytes) {
  return MessageOf<DataError>(
      [&] { (void)ReadZipDirectory(MemorySource("a.zip", bytes)); });
}

std::vector<std::string> NamesIn(const std::string& bytes) {
  std::vector<std::string> names;
  for (const ArchiveFile& entry :
       ReadZipDirectory(MemorySource("a.zip", bytes))) {
    names.push_back(entry.name);
  }
  return names;
}

ZipBuilder TwoFiles() {
  return ZipBuilder()
      .Add(StoredMember("a.jpg", "first"))
      .Add(DeflatedMember("b.jpg", "the second"));
}

// Sets a number of the end record.
std::string WithEnd(const ZipBuilder& zip, std::size_t place,
                    std::uint64_t value, std::size_t width) {
  std::string bytes = zip.bytes();
  PutNumber(bytes, bytes.size() - kEndBytes + place, value, width);
  return bytes;
}

// Sets a number of the directory's first entry.
std::string WithFirst(const ZipBuilder& zip, std::size_t place,
                      std::uint64_t value, std::size_t width) {
  std::string bytes = zip.bytes();
  PutNumber(bytes, zip.directory_offset() + place, value, width);
  return bytes;
}

// The end records of a zip64 archive whose directory ends the bytes.
std::string Zip64End(std::uint64_t count, std::uint64_t directory_offset,
                     std::uint64_t end_offset) {
  std::string text = "PK\6\6";
  AppendLittleEndian(text, 44, 8);
  AppendLittleEndian(text, 0, 8);  // versions
  text.append(4, '\0');            // disks
  AppendLittleEndian(text, count, 8);
  AppendLittleEndian(text, count, 8);
  AppendLittleEndian(text, end_offset - directory_offset, 8);
  AppendLittleEndian(text, directory_offset, 8);
  text.append(std::string_view("PK\6\7\0\0\0\0", 8));
  AppendLittleEndian(text, end_offset, 8);
  AppendLittleEndian(text, 1, 4);
  text.append(std::string_view("PK\5\6\0\0\0\0", 8));
  text.append(12, '\xFF');
  return text.append(2, '\0');
}

// A file of a hole and an end, whose size is no cost to its owner.
class Holes final : public ByteSource {
 public:
  static constexpr std::int64_t kHoleBytes = std::int64_t{1} << 40;

  explicit Holes(std::string end) : ByteSource("a.zip"), end_(std::move(end)) {
    set_size(kHoleBytes + static_cast<std::int64_t>(end_.size()));
  }
  [[nodiscard]] std::size_t ReadAt(
      std::int64_t offset, std::span<std::byte> destination) const override {
    for (std::byte& byte : destination) {
      const std::int64_t place = offset++ - kHoleBytes;
      byte = place < 0 ? std::byte{0}
                       : std::byte(end_.at(static_cast<std::size_t>(place)));
    }
    return destination.size();
  }

 private:
  std::string end_;
};

Json Found(const std::vector<ArchiveFile>& entries) {
  Json list = Json::array();
  for (const ArchiveFile& entry : entries) {
    list.push_back({{"name", ToHex(entry.name)},
                    {"offset", entry.offset},
                    {"bytes", entry.bytes}});
  }
  return list;
}

TEST(ZipDirectoryTest, HasWhatZipfileReads) {
  Json goldens =
      Json::parse(ReadWholeFile(kFolder + "/zip_goldens.json", 1 << 20));
  ASSERT_EQ(goldens.size(), 12);
  for (auto& [name, expected] : goldens.items()) {
    for (Json& entry : expected) {
      entry.erase("crc32");
      entry.erase("sha256");
    }
    const FileSource file(kFolder + "/zip/" + name + ".zip");
    EXPECT_EQ(Found(ReadZipDirectory(file)), expected) << name;
  }
}

TEST(ZipDirectoryTest, IsKnownByItsFirstBytes) {
  EXPECT_TRUE(IsZip(AsBytes(TwoFiles().bytes())));
  EXPECT_TRUE(IsZip(AsBytes(ZipBuilder().bytes())));
  EXPECT_FALSE(IsZip(AsBytes("PK\3")));
  EXPECT_FALSE(IsZip(AsBytes("PK\1\2")));
  EXPECT_FALSE(IsZip(AsBytes("\xFF\xD8\xFF\xE0")));
  EXPECT_FALSE(IsZip({}));
  EXPECT_THAT(NamesIn(ZipBuilder().bytes()), ElementsAre());
}

TEST(ZipDirectoryTest, IsSortedByOffsetAndWithoutFolders) {
  ZipBuilder zip = TwoFiles();
  zip.Add(StoredMember("folder/", ""));
  const std::string last = ZipExtent(StoredMember("c.jpg", "x"));
  zip.Add(StoredMember("c.jpg", "x"));
  const std::vector<ArchiveFile> entries =
      ReadZipDirectory(MemorySource("a.zip", zip.bytes()));
  ASSERT_EQ(entries.size(), 3);
  EXPECT_EQ(entries[0].offset, 0);
  EXPECT_EQ(entries[0].extent, entries[1].offset);
  // The folder's header ends it, not the next file's.
  EXPECT_LT(entries[1].offset + entries[1].extent, entries[2].offset);
  EXPECT_EQ(entries[2].extent, last.size());
}

TEST(ZipDirectoryTest, CanBeInAnotherOrderThanTheData) {
  ZipBuilder zip;
  const ZipMember second = StoredMember("2.jpg", "two");
  const ZipMember first = StoredMember("1.jpg", "one");
  zip.AddAt(ZipExtent(first).size(), second,
            ZipExtent(first) + ZipExtent(second));
  zip.AddAt(0, first, "");
  EXPECT_THAT(NamesIn(zip.bytes()), ElementsAre("1.jpg", "2.jpg"));
}

TEST(ZipDirectoryTest, IsFoundBehindACommentOfAnyLength) {
  for (const std::size_t size : {1U, 20U, 65535U}) {
    EXPECT_THAT(NamesIn(TwoFiles().bytes(std::string(size, 'c'))),
                ElementsAre("a.jpg", "b.jpg"))
        << size;
  }
  // A whole end record of an empty archive, which does not end with the file.
  const std::string comment = ZipBuilder().bytes() + " is an empty archive";
  EXPECT_THAT(NamesIn(TwoFiles().bytes(comment)),
              ElementsAre("a.jpg", "b.jpg"));
}

TEST(ZipDirectoryTest, IsFoundBehindOtherBytes) {
  const std::string prefix = "#!/bin/sh\n";
  const std::vector<ArchiveFile> entries =
      ReadZipDirectory(MemorySource("a.zip", prefix + TwoFiles().bytes()));
  EXPECT_EQ(entries.at(0).offset, prefix.size());
  EXPECT_EQ(entries.at(1).offset + entries.at(1).extent,
            prefix.size() + TwoFiles().directory_offset());
}

TEST(ZipDirectoryTest, OfAnotherFileIsAnError) {
  EXPECT_EQ(ErrorOf(""),
            "a.zip: is cut short, or no zip: it has no end record");
  EXPECT_THAT(ErrorOf(std::string(200'000, 'x')), HasSubstr("no end record"));
  EXPECT_THAT(ErrorOf("PK\5\6"), HasSubstr("no end record"));
}

TEST(ZipDirectoryTest, CutAnywhereIsAnError) {
  std::vector<std::string> archives = {TwoFiles().bytes("a comment")};
  for (const std::string name : {"zip64", "streamed", "infozip", "prefix"}) {
    archives.push_back(
        ReadWholeFile(kFolder + "/zip/" + name + ".zip", 1 << 20));
  }
  for (const std::string& whole : archives) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      EXPECT_NE(ErrorOf(whole.substr(0, size)), "") << size;
      // Cut at the front, the offsets do not fit.
      if (size > 0 && !whole.starts_with('#')) {
        EXPECT_NE(ErrorOf(whole.substr(size)), "") << size;
      }
    }
  }
}

TEST(ZipDirectoryTest, RefusesCountsThatLie) {
  EXPECT_EQ(ErrorOf(WithEnd(TwoFiles(), 8, 0x0001'0001, 4)),
            "a.zip: at byte " +
                std::to_string(TwoFiles().bytes().size() - kEndBytes) +
                ": the zip claims 1 entries, but its directory has 2");
  EXPECT_THAT(ErrorOf(WithEnd(TwoFiles(), 8, 0x0003'0003, 4)),
              HasSubstr("claims 3 entries in a directory of 102 bytes"));
  EXPECT_THAT(ErrorOf(WithEnd(TwoFiles(), 8, 0xFFFF'FFFF, 4)),
              HasSubstr("claims 65535 entries in"));
}

TEST(ZipDirectoryTest, RefusesAnEndThatLies) {
  for (const auto& [place, value, width, fault] :
       {std::tuple(12, 103U, 4, "lies outside the file: 103 bytes"),
        {12, 101U, 4, "no entry begins here"},
        // Its second entry alone, behind bytes that would be before the
        // archive.
        {12, 51U, 4, "claims 2 entries in a directory of 51 bytes"},
        {12, 0xFFFF'FFFFU, 4, "lies outside the file: 4294967295 bytes"},
        {16, 0xFFFF'FFFFU, 4, "lies outside the file"},
        {4, 1U, 2, "split over several disks"},
        {6, 1U, 2, "split over several disks"},
        {8, 1U, 2, "split over several disks"}}) {
    EXPECT_THAT(ErrorOf(WithEnd(TwoFiles(), place, value, width)),
                AllOf(StartsWith("a.zip: "), HasSubstr(fault)))
        << place;
  }
}

TEST(ZipDirectoryTest, RefusesAnEntryThatLies) {
  for (const auto& [place, value, width, fault] :
       {std::tuple(28, 0xFFFFU, 2, "the zip directory ends inside an entry"),
        {30, 0xFFFFU, 2, "the zip directory ends inside an entry"},
        {32, 0xFFFFU, 2, "the zip directory ends inside an entry"},
        {42, 0xFFFF'FFFEU, 4, "outside the file"},
        {20, 0xFFFF'FFFEU, 4, "outside the file"},
        {20, 0xFFFF'FFFFU, 4, "zip64 extra field is missing"},
        {24, 0xFFFF'FFFFU, 4, "zip64 extra field is missing"},
        {42, 0xFFFF'FFFFU, 4, "zip64 extra field is missing"},
        {20, 6U, 4, "in the directory"}}) {
    const ZipBuilder zip = ZipBuilder().Add(StoredMember("a.jpg", "first"));
    EXPECT_THAT(ErrorOf(WithFirst(zip, place, value, width)), HasSubstr(fault))
        << place;
  }
}

TEST(ZipDirectoryTest, RefusesEntriesThatOverlapOrHaveOneName) {
  EXPECT_THAT(
      ErrorOf(TwoFiles().Add(StoredMember("a.jpg", "again")).bytes()),
      EndsWith("zip entry a.jpg: the name occurs twice, first at byte 0"));
  // Its data would end one byte behind the next header's first.
  EXPECT_EQ(ErrorOf(WithFirst(TwoFiles(), 20, 6, 4)),
            "a.zip: at byte 0: zip entry a.jpg: overlaps b.jpg");
  // Two names for the same data.
  const ZipMember member = StoredMember("a.jpg", "first");
  ZipBuilder same = ZipBuilder().Add(member);
  same.AddAt(0, StoredMember("b.jpg", "first"), "");
  EXPECT_THAT(ErrorOf(same.bytes()), HasSubstr("overlaps"));
  // One entry inside the data of another.
  ZipBuilder inside =
      ZipBuilder().Add(StoredMember("a.jpg", ZipExtent(member)));
  inside.AddAt(35, member, "");
  EXPECT_THAT(ErrorOf(inside.bytes()), HasSubstr("overlaps"));
}

TEST(ZipDirectoryTest, RefusesZip64SizesThatLie) {
  const std::string path = kFolder + "/zip/zip64.zip";
  const std::string whole = ReadWholeFile(path, 1 << 20);
  const std::size_t end = whole.rfind("PK\6\6");
  ASSERT_NE(end, std::string::npos);
  ASSERT_EQ(ErrorOf(whole), "");
  for (const std::size_t place : {32U, 40U, 48U}) {
    for (const std::uint64_t value :
         {std::uint64_t{1} << 32, std::uint64_t{1} << 60,
          std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
      std::string bytes = whole;
      PutNumber(bytes, end + place, value, 8);
      if (place == 32) {
        PutNumber(bytes, end + 24, value, 8);
      }
      EXPECT_THAT(ErrorOf(bytes),
                  AllOf(StartsWith("a.zip: at byte "), HasSubstr("the zip")))
          << place << " " << value;
    }
  }
}

TEST(ZipDirectoryTest, RefusesAZip64SizeThatIsNegative) {
  std::string bytes =
      ReadWholeFile(kFolder + "/zip/zip64.zip", std::int64_t{1} << 20);
  // The extra field of the directory's entry of train/cat/1.jpg.
  const std::size_t entry = bytes.rfind("train/cat/1.jpg");
  const std::size_t extra = entry + std::string_view("train/cat/1.jpg").size();
  ASSERT_EQ(LittleEndianAt(AsBytes(bytes), extra, 2), 1);
  ASSERT_EQ(LittleEndianAt(AsBytes(bytes), extra + 4, 8), 1500);
  PutNumber(bytes, extra + 4, std::uint64_t{1} << 63, 8);
  EXPECT_THAT(ErrorOf(bytes), HasSubstr("claims 9223372036854775808 bytes"));
}

TEST(ZipDirectoryTest, RefusesAZip64EndRecordThatIsMissing) {
  std::string bytes =
      ReadWholeFile(kFolder + "/zip/zip64.zip", std::int64_t{1} << 20);
  bytes[bytes.rfind("PK\6\6")] = 'X';
  EXPECT_THAT(ErrorOf(bytes),
              HasSubstr("the zip64 end record is missing or damaged"));
}

// The locator's offset does not count the bytes before the archive.
TEST(ZipDirectoryTest, OfZip64IsFoundBehindOtherBytes) {
  const std::string whole =
      ReadWholeFile(kFolder + "/zip/zip64.zip", std::int64_t{1} << 20);
  const std::vector<std::string> names = NamesIn(whole);
  EXPECT_EQ(names.size(), 5);
  EXPECT_EQ(NamesIn("#!/bin/sh\n" + whole), names);
}

TEST(ZipDirectoryTest, HasTwentyThousandEntries) {
  ZipBuilder zip;
  const std::string folder(80, 'd');
  for (int i = 0; i < 20'000; ++i) {
    // Not StoredMember(), which packs for the checksum.
    zip.Add({.name = folder + "/" + std::to_string(i) + ".jpg",
             .packed = "x",
             .bytes = 1});
  }
  const std::string bytes = zip.bytes();
  // Entries lie across the borders of the windows that are read.
  ASSERT_GT(bytes.size() - zip.directory_offset(), std::size_t{2} << 20);
  const std::vector<std::string> names = NamesIn(bytes);
  ASSERT_EQ(names.size(), 20'000);
  for (std::size_t i = 0; i < names.size(); ++i) {
    ASSERT_EQ(names[i], folder + "/" + std::to_string(i) + ".jpg");
  }
}

// More entries than 16 bits can count, with and without zip64 records.
TEST(ZipDirectoryTest, HasSeventyThousandEntries) {
  ZipBuilder zip;
  for (int i = 0; i < 70'000; ++i) {
    zip.Add({.name = std::to_string(i), .packed = "", .bytes = 0});
  }
  std::string bytes = zip.bytes();
  EXPECT_EQ(NamesIn(bytes).size(), 70'000);
  bytes.resize(bytes.size() - kEndBytes);
  const std::string end =
      Zip64End(70'000, zip.directory_offset(), bytes.size());
  EXPECT_EQ(NamesIn(bytes + end).size(), 70'000);
  // zip64 counts have no excuse.
  const std::string lie =
      Zip64End(70'000 - 65'536, zip.directory_offset(), bytes.size());
  EXPECT_THAT(ErrorOf(bytes + lie), HasSubstr("claims 4464 entries, but"));
}

TEST(ZipDirectoryTest, RefusesMoreEntriesThanTheLimit) {
  const auto message = [](std::uint64_t count) {
    return MessageOf<DataError>([&] {
      (void)ReadZipDirectory(Holes(Zip64End(count, 0, Holes::kHoleBytes)));
    });
  };
  EXPECT_THAT(message(kMaxZipEntries + 1), HasSubstr("claims 100000001"));
  EXPECT_THAT(message(kMaxZipEntries), HasSubstr("no entry begins here"));
}

TEST(Zip64ExtraTest, HasTheNumbersInOrder) {
  std::string extra("\x99\x99\2\0ab", 6);  // of another kind
  AppendLittleEndian(extra, 1, 2);
  AppendLittleEndian(extra, 16, 2);
  AppendLittleEndian(extra, 11, 8);
  AppendLittleEndian(extra, 22, 8);
  Zip64Extra zip64(AsBytes(extra));
  EXPECT_EQ(zip64.Widen(0xFFFF'FFFF), 11);
  EXPECT_EQ(zip64.Widen(7), 7);
  EXPECT_EQ(zip64.Widen(0xFFFF'FFFF), 22);
  EXPECT_THROW((void)zip64.Widen(0xFFFF'FFFF), DataError);
}

TEST(Zip64ExtraTest, CutAnywhereHasNoNumber) {
  std::string extra;
  AppendLittleEndian(extra, 1, 2);
  AppendLittleEndian(extra, 8, 2);
  AppendLittleEndian(extra, 11, 8);
  EXPECT_EQ(Zip64Extra(AsBytes(extra)).Widen(0xFFFF'FFFF), 11);
  for (std::size_t size = 0; size < extra.size(); ++size) {
    EXPECT_THROW(
        (void)Zip64Extra(AsBytes(extra.substr(0, size))).Widen(0xFFFF'FFFF),
        DataError)
        << size;
  }
}

}  // namespace infeed::zip_directory_test
