#include "trainer/formats/pth_file.h"

#include <zlib.h>

#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/tensors.h"
#include "tests/support/throws.h"
#include "trainer/formats/safetensors.h"
#include "trainer/formats/zip_archive.h"

// Against files that PyTorch wrote: data/make_torch_weight_goldens.py.
namespace infeed {
namespace pth_file_test {

using testing::ElementsAre;
using testing::HasSubstr;

std::string PathOf(const std::string& name) {
  return std::string(INFEED_TEST_DATA) + "/weights/" + name;
}

TensorMap Golden(const std::string& name) { return ReadPth(PathOf(name)); }

std::vector<std::string> NamesOf(const TensorMap& tensors) {
  std::vector<std::string> names;
  for (const auto& entry : tensors) {
    names.push_back(entry.first);
  }
  return names;
}

std::vector<float> Counting(int count) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(i));
  }
  return values;
}

TensorMap Numbers() {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  HostTensor longs = IntTensor(-7);
  longs.shape = {2};
  const HostTensor second = IntTensor(std::int64_t{1} << 40);
  longs.bytes.insert(longs.bytes.end(), second.bytes.begin(),
                     second.bytes.end());
  return {
      {"plain", FloatTensor(Counting(6), {1, 2, 3})},
      {"transposed", FloatTensor({0, 3, 1, 4, 2, 5}, {3, 2})},
      {"offset", FloatTensor({4, 5, 6, 7})},
      {"channels_last", FloatTensor(Counting(24), {1, 2, 3, 4})},
      {"half", FloatTensor({1.5, -2, 0x1p-14F, 0x1p-24F, 65504, kInfinity})},
      {"bfloat16", FloatTensor({1.5, -2, 0x1.C4p127F})},
      {"double", FloatTensor({0.1F, -kInfinity})},
      {"long", longs},
      {"scalar", IntTensor(7)},
      {"empty", FloatTensor({}, {0, 3})},
  };
}

// The safetensors package wrote the same tensors.
TEST(PthFileTest, ReadsEveryTypeAndView) {
  EXPECT_EQ(Golden("numbers.pth"), Numbers());
  EXPECT_EQ(ReadSafetensors(PathOf("numbers.safetensors")), Numbers());
}

TEST(PthFileTest, ReadsAStateDict) {
  EXPECT_THAT(
      NamesOf(Golden("network.pth")),
      ElementsAre("conv.bias", "conv.weight", "fc.bias", "fc.weight",
                  "norm.bias", "norm.num_batches_tracked", "norm.running_mean",
                  "norm.running_var", "norm.weight"));
}

TEST(PthFileTest, LooksIntoWrappersAndLeavesPrefixesOut) {
  EXPECT_EQ(Golden("wrapped.pth"), Golden("network.pth"));
  EXPECT_THAT(NamesOf(Golden("parameter.pth")), ElementsAre("weight"));
}

TEST(PthFileTest, RefusesAWholeModuleAndTheLegacyFormatWithAdvice) {
  EXPECT_THAT(
      MessageOf<DataError>([] { (void)Golden("module.pth"); }),
      AllOf(HasSubstr("weights/module.pth: pickle at byte 2: holds a '"),
            HasSubstr("save a state_dict() alone")));
  EXPECT_THAT(MessageOf<DataError>([] { (void)Golden("legacy.pth"); }),
              HasSubstr("save its state_dict() anew"));
}

// Every member has a checksum. Fields without one, such as dates, may change.
TEST(PthFileTest, NoticesAFlippedByteAndATruncationAnywhere) {
  const std::string whole = ReadWholeFile(PathOf("network.pth"), 1 << 20);
  const TensorMap expected = Golden("network.pth");
  int detected = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string bytes = whole;
    bytes[i] = static_cast<char>(bytes[i] ^ (1 << (i % 8)));
    try {
      ASSERT_EQ(ParsePth(std::as_bytes(std::span(bytes))), expected) << i;
    } catch (const DataError&) {
      ++detected;
    }
    const auto cut = std::as_bytes(std::span(whole)).first(i);
    ASSERT_NE(MessageOf<DataError>([&] { (void)ParsePth(cut); }), "") << i;
  }
  EXPECT_GT(detected, 1000);
}

// The parts of a zip archive that are written by hand.
std::string Little(std::uint64_t value, int bytes) {
  std::string text;
  for (; bytes > 0; --bytes, value >>= 8) {
    text += static_cast<char>(value);
  }
  return text;
}

std::string MemberFields(const std::string& name, const std::string& data) {
  const auto size = static_cast<std::uint32_t>(data.size());
  const auto crc = static_cast<std::uint32_t>(
      ::crc32(0, reinterpret_cast<const Bytef*>(data.data()), size));
  return Little(10, 2) + Little(0, 8) + Little(crc, 4) + Little(size, 4) +
         Little(size, 4) + Little(static_cast<std::uint32_t>(name.size()), 2) +
         Little(0, 2);
}

std::string LocalMember(const std::string& name, const std::string& data) {
  return "PK\3\4" + MemberFields(name, data) + name + data;
}

std::string CentralEntry(const std::string& name, const std::string& data,
                         std::size_t offset) {
  return "PK\1\2" + Little(10, 2) + MemberFields(name, data) + Little(0, 10) +
         Little(static_cast<std::uint32_t>(offset), 4) + name;
}

std::string WithEnd(const std::string& members, const std::string& entries,
                    std::uint32_t count) {
  return members + entries + "PK\5\6" + Little(0, 4) + Little(count, 2) +
         Little(count, 2) +
         Little(static_cast<std::uint32_t>(entries.size()), 4) +
         Little(static_cast<std::uint32_t>(members.size()), 4) + Little(0, 2);
}

// A member within another would let a small file take any amount of memory.
TEST(ZipArchiveTest, RefusesMembersThatOverlap) {
  const std::string data(10'000, 'x');
  const std::string inner = LocalMember("b", data);
  const std::string outer = LocalMember("a", inner);
  const std::string nested =
      WithEnd(outer,
              CentralEntry("a", inner, 0) +
                  CentralEntry("b", data, outer.size() - inner.size()),
              2);
  EXPECT_THAT(MessageOf<DataError>(
                  [&] { (void)ZipArchive(std::as_bytes(std::span(nested))); }),
              HasSubstr("members overlap"));
  const std::string beside = WithEnd(
      outer + inner,
      CentralEntry("a", inner, 0) + CentralEntry("b", data, outer.size()), 2);
  ZipArchive archive(std::as_bytes(std::span(beside)));
  EXPECT_EQ(archive.Read("b").size(), data.size());
}

TEST(ZipArchiveTest, NamesWhatIsNotThere) {
  const std::string file = ReadWholeFile(PathOf("network.pth"), 1 << 20);
  ZipArchive archive(std::as_bytes(std::span(file)));
  EXPECT_THAT(archive.names(), testing::Contains("network/data.pkl"));
  EXPECT_EQ(MessageOf<DataError>([&] { (void)archive.Read("x"); }),
            "the archive has no x");
}

}  // namespace pth_file_test
}  // namespace infeed
