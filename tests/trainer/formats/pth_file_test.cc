#include "trainer/formats/pth_file.h"

#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/tensors.h"
#include "tests/support/throws.h"
#include "trainer/formats/safetensors.h"

// Against files that PyTorch wrote: data/make_torch_weight_goldens.py.
namespace infeed::pth_file_test {

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

}  // namespace infeed::pth_file_test
