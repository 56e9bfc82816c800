#include "records/store/seek_feature.h"

#include <cstddef>
#include <string>

#include "records/bytes/crc32c.h"
#include "tests/support/bytes.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

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

TEST(SeekFeatureTest, SaysWhatIsWrong) {
  EXPECT_EQ(SeekSealText(SeekSeal::kGood), "is good");
  EXPECT_EQ(SeekSealText(SeekSeal::kDamaged), "is damaged");
  EXPECT_EQ(SeekSealText(SeekSeal::kUnknownVersion),
            "has an unsupported version");
  EXPECT_EQ(SeekSealText(SeekSeal::kOtherJpeg), "does not belong to the JPEG");
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
