#include <array>
#include <cstring>
#include <limits>
#include <vector>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/tensors.h"
#include "tests/support/throws.h"
#include "trainer/formats/host_tensor.h"

namespace infeed {
namespace {

template <typename Stored>
HostTensor Convert(StoredType type, const std::vector<Stored>& values) {
  return ToHostTensor(type, {static_cast<std::int64_t>(values.size())},
                      std::as_bytes(std::span(values)));
}

// IEEE 754's binary16: one, the largest, the smallest normal, the smallest of
// all, both zeros, both infinities.
TEST(StoredTypeTest, ConvertsToFloat32) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(
      Convert<std::uint16_t>(
          StoredType::kFloat16,
          {0x3C00, 0x7BFF, 0x0400, 0x0001, 0x0000, 0x8000, 0xFC00, 0xC000}),
      FloatTensor({1, 65504, 0x1p-14F, 0x1p-24F, 0, -0.0F, -kInfinity, -2}));
  EXPECT_EQ(Convert<std::uint16_t>(StoredType::kBfloat16, {0x3FC0, 0xC000}),
            FloatTensor({1.5, -2}));
  EXPECT_EQ(Convert<double>(StoredType::kFloat64, {0.1, -1e300}),
            FloatTensor({0.1F, -kInfinity}));
  const HostTensor nan = Convert<std::uint16_t>(StoredType::kFloat16, {0x7E00});
  float value = 0;
  std::memcpy(&value, nan.bytes.data(), sizeof value);
  EXPECT_NE(value, value);
}

TEST(StoredTypeTest, LeavesTheOthersAsTheyAre) {
  EXPECT_EQ(Convert<float>(StoredType::kFloat32, {3, 4}), FloatTensor({3, 4}));
  const std::int64_t value = -7;
  EXPECT_EQ(
      ToHostTensor(StoredType::kInt64, {}, std::as_bytes(std::span(&value, 1))),
      IntTensor(-7));
}

TEST(StoredTypeTest, CountsElements) {
  EXPECT_EQ(ElementCount({}), 1);
  EXPECT_EQ(ElementCount(std::array<std::int64_t, 3>{2, 3, 4}), 24);
  EXPECT_EQ(ElementCount(std::array<std::int64_t, 2>{1LL << 50, 0}), 0);
  EXPECT_EQ(TensorBytes(StoredType::kFloat16, std::array<std::int64_t, 1>{3}),
            6);
}

TEST(StoredTypeTest, RefusesShapesThatNoMemoryHolds) {
  for (const std::array<std::int64_t, 2> shape :
       {std::array<std::int64_t, 2>{-1, 1}, {1LL << 40, 1LL << 40}}) {
    EXPECT_THAT(MessageOf<DataError>([&] { (void)ElementCount(shape); }),
                HasSubstr("a shape is too large"));
  }
}

}  // namespace
}  // namespace infeed
