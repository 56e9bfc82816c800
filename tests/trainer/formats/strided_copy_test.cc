#include <vector>

#include <gtest/gtest.h>

#include "tests/support/tensors.h"
#include "trainer/formats/host_tensor.h"

namespace infeed {
namespace {

const std::vector<float> kMemory = {0, 1, 2, 3, 4, 5};

HostTensor Copied(const StridedView& view) {
  return {.type = DataType::kFloat32,
          .shape = view.shape,
          .bytes = CopyStrided(view, 4, std::as_bytes(std::span(kMemory)))};
}

TEST(StridedCopyTest, CopiesInRowMajorOrder) {
  EXPECT_EQ(Copied({.shape = {3, 2}, .strides = {1, 3}}),
            FloatTensor({0, 3, 1, 4, 2, 5}, {3, 2}));
  EXPECT_EQ(Copied({.offset = 2, .shape = {2}, .strides = {2}}),
            FloatTensor({2, 4}));
  EXPECT_EQ(Copied({.offset = 5, .shape = {}, .strides = {}}).bytes,
            FloatTensor({5}).bytes);
  EXPECT_TRUE(Copied({.shape = {0, 3}, .strides = {3, 1}}).bytes.empty());
  // The stride of a dimension of one element is never gone.
  EXPECT_EQ(Copied({.offset = 3, .shape = {2, 1}, .strides = {1, INT64_MAX}}),
            FloatTensor({3, 4}, {2, 1}));
}

TEST(StridedCopyTest, KnowsWhatFits) {
  EXPECT_TRUE(Fits({.shape = {3, 2}, .strides = {1, 3}}, 6));
  EXPECT_FALSE(Fits({.shape = {3, 2}, .strides = {1, 3}}, 5));
  EXPECT_FALSE(Fits({.offset = 1, .shape = {6}, .strides = {1}}, 6));
  EXPECT_FALSE(Fits({.offset = -1, .shape = {2}, .strides = {1}}, 6));
  EXPECT_TRUE(Fits({.offset = 9, .shape = {0}, .strides = {1}}, 6));
  // One element again and again would be memory without end.
  EXPECT_FALSE(Fits({.shape = {7}, .strides = {0}}, 6));
  EXPECT_FALSE(Fits({.shape = {3}, .strides = {INT64_MAX}}, 6));
}

}  // namespace
}  // namespace infeed
