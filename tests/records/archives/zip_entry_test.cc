#include "records/archives/zip_entry.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/archives/zip_directory.h"
#include "records/bytes/byte_source.h"
#include "records/bytes/sha256.h"
#include "tests/support/bytes.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"
#include "tests/support/zip_builder.h"

namespace infeed::zip_entry_test {

using Json = nlohmann::json;

const std::string kFolder = INFEED_TEST_DATA;
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 20;

// Text that deflates well, and more of it than one window.
std::string LongText() {
  std::string text;
  for (int i = 0; i < 20'000; ++i) {
    text += std::to_string(i * i % 1000);
  }
  return text;
}

std::string BytesOf(const std::string& extent,
                    std::int64_t max_bytes = kMaxBytes) {
  std::vector<std::byte> buffer;
  return AsText(ReadZipEntry(AsBytes(extent), max_bytes, buffer).bytes);
}

std::string BytesOf(const ZipMember& member) {
  return BytesOf(ZipExtent(member));
}

std::string ErrorOf(const std::string& extent,
                    std::int64_t max_bytes = kMaxBytes) {
  return MessageOf<DataError>([&] { (void)BytesOf(extent, max_bytes); });
}

std::string ErrorOf(const ZipMember& member) {
  return ErrorOf(ZipExtent(member));
}

ZipMember Described(ZipMember member, std::size_t width, bool has_signature) {
  member.descriptor = ZipDescriptor(member, width, has_signature);
  return member;
}

TEST(ZipEntryTest, IsWhatZipfileReads) {
  const Json goldens =
      Json::parse(ReadWholeFile(kFolder + "/zip_goldens.json", 1 << 20));
  std::vector<std::byte> buffer;  // one for all
  for (const auto& [name, expected] : goldens.items()) {
    const FileSource file(kFolder + "/zip/" + name + ".zip");
    const std::vector<ArchiveFile> entries = ReadZipDirectory(file);
    ASSERT_EQ(entries.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const ArchiveFile& entry = entries[i];
      std::vector<std::byte> extent(static_cast<std::size_t>(entry.extent));
      ASSERT_EQ(file.ReadAt(entry.offset, extent), extent.size());
      const ZipFile found = ReadZipEntry(extent, kMaxBytes, buffer);
      EXPECT_EQ(found.name, entry.name);
      EXPECT_EQ(found.crc32, expected[i].at("crc32"));
      Sha256 hash;
      hash.Add(found.bytes);
      EXPECT_EQ(Hex(hash.Finish()), expected[i].at("sha256"))
          << name << " " << entry.name;
    }
  }
}

TEST(ZipEntryTest, OfStoredDataIsAViewOfTheExtent) {
  const std::string extent = ZipExtent(StoredMember("a.jpg", "an image"));
  std::vector<std::byte> buffer;
  const ZipFile file = ReadZipEntry(AsBytes(extent), kMaxBytes, buffer);
  EXPECT_EQ(file.name, "a.jpg");
  EXPECT_EQ(AsText(file.bytes), "an image");
  EXPECT_EQ(reinterpret_cast<const char*>(file.bytes.data()),
            extent.data() + extent.size() - 8);
  EXPECT_EQ(buffer.capacity(), 0);
}

TEST(ZipEntryTest, InflatesIntoOneBufferForAll) {
  const std::string text = LongText();
  const std::string large = ZipExtent(DeflatedMember("a.jpg", text));
  const std::string small = ZipExtent(DeflatedMember("b.jpg", "bb"));
  std::vector<std::byte> buffer;
  EXPECT_EQ(AsText(ReadZipEntry(AsBytes(large), kMaxBytes, buffer).bytes),
            text);
  EXPECT_EQ(buffer.size(), text.size());
  const std::byte* const data = buffer.data();
  EXPECT_EQ(AsText(ReadZipEntry(AsBytes(small), kMaxBytes, buffer).bytes),
            "bb");
  EXPECT_EQ(AsText(ReadZipEntry(AsBytes(large), kMaxBytes, buffer).bytes),
            text);
  EXPECT_EQ(buffer.data(), data);
}

TEST(ZipEntryTest, HasAnyDataDescriptorOrNone) {
  for (const std::size_t width : {4U, 8U}) {
    for (const bool has_signature : {false, true}) {
      for (const std::string& text : {std::string(), LongText()}) {
        EXPECT_EQ(BytesOf(StoredMember("a.jpg", text)), text);
        EXPECT_EQ(BytesOf(DeflatedMember("a.jpg", text)), text);
        EXPECT_EQ(BytesOf(Described(StoredMember("a.jpg", text), width,
                                    has_signature)),
                  text);
        EXPECT_EQ(BytesOf(Described(DeflatedMember("a.jpg", text), width,
                                    has_signature)),
                  text);
      }
    }
  }
}

// Other tools leave gaps when they remove entries or align data.
TEST(ZipEntryTest, MayBeFollowedByOtherBytes) {
  const std::string text = LongText();
  const std::string gap(100, '\0');
  for (const ZipMember& member :
       {StoredMember("a.jpg", text), DeflatedMember("a.jpg", text),
        Described(DeflatedMember("a.jpg", text), 4, true)}) {
    EXPECT_EQ(BytesOf(ZipExtent(member) + gap), text);
  }
  // Nothing but the extent's end shows where these data end.
  const ZipMember described = Described(StoredMember("a.jpg", text), 4, true);
  EXPECT_THAT(ErrorOf(ZipExtent(described) + gap),
              HasSubstr("zip entry a.jpg: its sizes do not match those of its "
                        "data descriptor"));
}

TEST(ZipEntryTest, HasZip64Sizes) {
  const std::string text = LongText();
  for (ZipMember member :
       {StoredMember("a.jpg", text), DeflatedMember("a.jpg", text)}) {
    AppendLittleEndian(member.extra, 1, 2);
    AppendLittleEndian(member.extra, 16, 2);
    AppendLittleEndian(member.extra, member.bytes, 8);
    AppendLittleEndian(member.extra, member.packed.size(), 8);
    std::string extent = ZipExtent(member);
    PutNumber(extent, 18, ~std::uint64_t{0}, 8);
    EXPECT_EQ(BytesOf(extent), text);
    // Both claims are checked, not added up.
    const std::size_t sizes = 30 + member.name.size() + 4;
    for (const std::size_t place : {sizes, sizes + 8}) {
      std::string lie = extent;
      PutNumber(lie, place, ~std::uint64_t{0}, 8);
      EXPECT_NE(ErrorOf(lie), "");
    }
    PutNumber(extent, sizes - 2, 8, 2);
    EXPECT_THAT(ErrorOf(extent), HasSubstr("zip64 extra field is missing"));
  }
}

TEST(ZipEntryTest, CutAnywhereIsAnError) {
  const std::string text = "an image, an image, an image, an image";
  for (const ZipMember& member :
       {StoredMember("a.jpg", text), DeflatedMember("a.jpg", text),
        Described(StoredMember("a.jpg", text), 4, true),
        Described(DeflatedMember("a.jpg", text), 8, false)}) {
    const std::string whole = ZipExtent(member);
    ASSERT_EQ(BytesOf(whole), text);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      EXPECT_NE(ErrorOf(whole.substr(0, size)), "") << size;
    }
  }
}

TEST(ZipEntryTest, ThatDoesNotBeginHereChanged) {
  std::string extent = ZipExtent(StoredMember("a.jpg", "an image"));
  extent[2] = 'X';
  EXPECT_THAT(ErrorOf(extent),
              StartsWith("the file changed after it was indexed"));
}

TEST(ZipEntryTest, RefusesAWrongChecksum) {
  const std::string text = LongText();
  for (ZipMember member :
       {StoredMember("a.jpg", text), DeflatedMember("a.jpg", text)}) {
    ++member.crc32;
    EXPECT_EQ(ErrorOf(member),
              "zip entry a.jpg: its CRC-32 does not match: the bytes are "
              "damaged");
    EXPECT_THAT(ErrorOf(Described(member, 4, true)), HasSubstr("CRC-32"));
    EXPECT_THAT(ErrorOf(Described(member, 8, false)), HasSubstr("CRC-32"));
  }
}

TEST(ZipEntryTest, RefusesEveryFlippedByteOfTheData) {
  const std::string text = "an image, an image, an image, an image";
  for (const ZipMember& member :
       {StoredMember("a.jpg", text), DeflatedMember("a.jpg", text)}) {
    const std::string whole = ZipExtent(member);
    for (std::size_t i = whole.size() - member.packed.size(); i < whole.size();
         ++i) {
      std::string extent = whole;
      extent[i] = static_cast<char>(~extent[i]);
      EXPECT_NE(ErrorOf(extent), "") << i;
    }
  }
}

TEST(ZipEntryTest, RefusesEncryptedDataAndOtherMethods) {
  ZipMember member = StoredMember("a.jpg", "an image");
  member.flags = 1;
  EXPECT_EQ(ErrorOf(member),
            "zip entry a.jpg: is encrypted: pack it again without a password");
  member.flags = 0;
  member.method = 93;
  EXPECT_EQ(ErrorOf(member),
            "zip entry a.jpg: is packed by method 93 (zstd): pack it again as "
            "stored or deflated");
  member.method = 77;
  EXPECT_THAT(ErrorOf(member), HasSubstr("method 77: pack it again"));
}

TEST(ZipEntryTest, RefusesStoredSizesThatDiffer) {
  ZipMember member = StoredMember("a.jpg", "an image");
  ++member.bytes;
  EXPECT_THAT(ErrorOf(member), HasSubstr("its sizes differ: 8 and 9 bytes"));
  EXPECT_THAT(ErrorOf(Described(member, 4, true)),
              HasSubstr("do not match those of its data descriptor"));
}

TEST(ZipEntryTest, RefusesMorePackedBytesThanThereAre) {
  for (ZipMember member : {StoredMember("a.jpg", "an image"),
                           DeflatedMember("a.jpg", "an image")}) {
    std::string extent = ZipExtent(member);
    PutNumber(extent, 18, member.packed.size() + 1, 4);
    PutNumber(extent, 22, member.bytes + 1, 4);
    EXPECT_THAT(ErrorOf(extent), HasSubstr("packed bytes, but"));
  }
}

TEST(ZipEntryTest, RefusesDeflatedSizesThatLie) {
  const ZipMember good = DeflatedMember("a.jpg", LongText());
  for (const std::uint64_t bytes : {good.bytes - 1, good.bytes + 1}) {
    ZipMember member = good;
    member.bytes = bytes;
    EXPECT_THAT(ErrorOf(member), HasSubstr("its sizes do not match: "));
    EXPECT_THAT(ErrorOf(Described(member, 4, true)),
                HasSubstr("do not match those of its data descriptor"));
  }
  ZipMember longer = good;
  longer.packed += "x";
  EXPECT_THAT(ErrorOf(longer), HasSubstr("its sizes do not match: "));
  EXPECT_THAT(ErrorOf(Described(longer, 4, true)),
              HasSubstr("do not match those of its data descriptor"));
  ZipMember shorter = good;
  shorter.packed.pop_back();
  EXPECT_THAT(ErrorOf(shorter), HasSubstr("deflated data are cut short"));
}

// The sizes of a few kilobytes that claim 4 GiB, as 42.zip has them.
TEST(ZipEntryTest, RefusesABombBeforeAllocating) {
  ZipMember bomb = DeflatedMember("bomb.jpg", std::string(1 << 20, '\0'));
  ASSERT_EQ(BytesOf(bomb).size(), bomb.bytes);
  bomb.bytes = 0xFFFF'FFFE;
  std::vector<std::byte> buffer;
  const auto refusal = [&](const ZipMember& member, std::int64_t max_bytes) {
    return MessageOf<DataError>([&] {
      (void)ReadZipEntry(AsBytes(ZipExtent(member)), max_bytes, buffer);
    });
  };
  EXPECT_EQ(refusal(bomb, kMaxBytes),
            "zip entry bomb.jpg: has 4294967294 bytes, more than the 1048576 "
            "allowed");
  EXPECT_THAT(refusal(bomb, std::int64_t{1} << 40),
              HasSubstr("more than deflate can make of them"));
  bomb.bytes = bomb.packed.size() * 1032 + 1;
  EXPECT_THAT(refusal(bomb, std::int64_t{1} << 40),
              HasSubstr("more than deflate can make of them"));
  EXPECT_EQ(buffer.capacity(), 0);
}

TEST(ZipEntryTest, RefusesABombWithoutSizesAtTheLimit) {
  const std::string zeros(1 << 20, '\0');
  const ZipMember bomb = Described(DeflatedMember("bomb.jpg", zeros), 4, true);
  const std::string extent = ZipExtent(bomb);
  EXPECT_EQ(BytesOf(extent, 1 << 20), zeros);
  for (const std::int64_t max_bytes : {(1 << 20) - 1, 5000, 1, 0}) {
    std::vector<std::byte> buffer;
    EXPECT_THROW((void)ReadZipEntry(AsBytes(extent), max_bytes, buffer),
                 DataError);
    EXPECT_LE(buffer.size(), static_cast<std::size_t>(max_bytes));
  }
}

TEST(ZipEntryTest, RefusesStoredDataAboveTheLimit) {
  const ZipMember member = StoredMember("a.jpg", "an image");
  for (const std::string& extent :
       {ZipExtent(member), ZipExtent(Described(member, 4, true))}) {
    EXPECT_EQ(BytesOf(extent, 8), "an image");
    EXPECT_EQ(ErrorOf(extent, 7),
              "zip entry a.jpg: has 8 bytes, more than the 7 allowed");
  }
}

TEST(ZipEntryTest, RefusesFieldsThatReachBeyondTheExtent) {
  for (const std::size_t place : {26U, 28U}) {
    std::string extent = ZipExtent(StoredMember("a.jpg", "an image"));
    PutNumber(extent, place, 0xFFFF, 2);
    EXPECT_THAT(ErrorOf(extent), HasSubstr("is cut short")) << place;
  }
}

}  // namespace infeed::zip_entry_test
