#include "trainer/formats/tensor_bundle.h"

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/hex.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tensors.h"
#include "tests/support/throws.h"
#include "trainer/formats/sorted_table.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

// Made by data/make_tensorflow_weight_goldens.py.
const std::string kGoldens = std::string(INFEED_TEST_DATA) + "/weights/";

// The index of two tensors: "a", the floats 1 and 2, and "global_step", 7.
constexpr std::string_view kIndex =
    "00000608011a02080100010f610801120412020802280835593ce535000b0d676c6f6261"
    "6c5f73746570080912002008280835bbd79f11000000000100000000fecc111c00000000"
    "0100000000c0f2a1b000010268003f0000000001000000004b3c55854408510e00000000"
    "000000000000000000000000000000000000000000000000000000000000000057fb808b"
    "247547db";

class TensorBundleTest : public testing::Test {
 protected:
  TensorBundleTest() {
    Write(".index", FromHex(kIndex));
    Write(".data-00000-of-00001", FromHex("0000803f000000400700000000000000"));
  }

  void Write(const std::string& end, std::string_view bytes) const {
    std::ofstream(prefix_ + end, std::ios::binary | std::ios::trunc) << bytes;
  }

  [[nodiscard]] TensorMap ReadAll() const {
    const TensorBundle bundle(prefix_);
    TensorMap tensors;
    for (const std::string& name : bundle.names()) {
      tensors[name] = bundle.Read(name);
    }
    return tensors;
  }

  [[nodiscard]] std::string ErrorOfReading() const {
    return MessageOf<DataError>([&] { (void)ReadAll(); });
  }

  TemporaryFolder folder_;
  std::string prefix_ = folder_ / "model.ckpt-7";
};

TEST_F(TensorBundleTest, ReadsTheKnownBytes) {
  EXPECT_EQ(ReadAll(), (TensorMap{{"a", FloatTensor({1, 2})},
                                  {"global_step", IntTensor(7)}}));
}

TEST_F(TensorBundleTest, NoticesAFlippedByteAndATruncationAnywhere) {
  for (const std::string end : {".index", ".data-00000-of-00001"}) {
    const std::string whole = ReadWholeFile(prefix_ + end, 1 << 20);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      std::string bytes = whole;
      bytes[i] = static_cast<char>(bytes[i] ^ (1 << (i % 8)));
      for (const std::string& damaged : {bytes, whole.substr(0, i)}) {
        Write(end, damaged);
        ASSERT_THAT(ErrorOfReading(), HasSubstr(prefix_ + end)) << i;
      }
    }
    Write(end, whole);
  }
}

TEST_F(TensorBundleTest, NamesFileAndPlaceOfDamage) {
  Write(".data-00000-of-00001", std::string(16, 'x'));
  EXPECT_EQ(ErrorOfReading(),
            prefix_ +
                ".data-00000-of-00001: at byte 0: the checksum of tensor 'a' "
                "does not match");
  Write(".index", "no table");
  EXPECT_EQ(ErrorOfReading(), prefix_ +
                                  ".index: table at byte 8: it does not end as "
                                  "the index of a checkpoint does");
}

TEST_F(TensorBundleTest, NamesADataFileOrATensorThatIsMissing) {
  EXPECT_THAT(
      MessageOf<DataError>([&] { (void)TensorBundle(prefix_).Read("b"); }),
      HasSubstr("tensor 'b' is not in the checkpoint"));
  fs::remove(prefix_ + ".data-00000-of-00001");
  EXPECT_THAT(MessageOf<IoError>([&] { (void)ReadAll(); }),
              HasSubstr(".data-00000-of-00001: cannot read: No such file"));
}

TEST_F(TensorBundleTest, BundlesAreFoundByPrefixFileOrFolder) {
  EXPECT_EQ(FindTensorBundle(prefix_), prefix_);
  EXPECT_EQ(FindTensorBundle(prefix_ + ".index"), prefix_);
  EXPECT_EQ(FindTensorBundle(prefix_ + ".data-00000-of-00001"), prefix_);
  EXPECT_EQ(FindTensorBundle(folder_.path()), std::nullopt);
  EXPECT_EQ(FindTensorBundle(folder_ / "other"), std::nullopt);
  std::ofstream(folder_ / "checkpoint")
      << "model_checkpoint_path: \"model.ckpt-7\"\n";
  EXPECT_EQ(FindTensorBundle(folder_.path()), prefix_);
  std::ofstream(folder_ / "checkpoint") << "nothing";
  EXPECT_THAT(
      MessageOf<DataError>([&] { (void)FindTensorBundle(folder_.path()); }),
      HasSubstr("checkpoint: names no checkpoint"));
}

TEST(TensorBundleGoldenTest, ReadsEveryType) {
  const TensorBundle bundle(kGoldens + "types");
  EXPECT_THAT(bundle.names(),
              ElementsAre("bfloat16", "double", "half", "int64", "string"));
  EXPECT_EQ(bundle.Read("bfloat16"), FloatTensor({1.5, -2}));
  EXPECT_EQ(bundle.Read("half"), FloatTensor({1.5, -2}));
  EXPECT_EQ(bundle.Read("double"),
            FloatTensor({0.1F, -std::numeric_limits<float>::infinity()}));
  EXPECT_EQ(bundle.Read("int64").shape, std::vector<std::int64_t>{2});
  EXPECT_THAT(MessageOf<DataError>([&] { (void)bundle.Read("string"); }),
              HasSubstr("tensor 'string' has type 7, which is not read"));
}

// Layers as the golden's names number them.
std::vector<LayerPlan> Layers() {
  return {{.kind = LayerKind::kConvolution, .name = "c1", .in = 1, .out = 2},
          {.kind = LayerKind::kNorm, .name = "n1", .in = 2, .out = 2},
          {.kind = LayerKind::kConvolution, .name = "c2", .in = 2, .out = 4},
          {.kind = LayerKind::kNorm, .name = "n2", .in = 4, .out = 4},
          {.kind = LayerKind::kLinear, .name = "fc", .in = 4, .out = 3}};
}

// Saved by tf.train.Saver under the reference's names; every tensor's values
// count up from 100 times its place in the script's list.
TEST(TensorflowWeightsTest, TakesTheReferencesNamesAndOrderOfDimensions) {
  const TensorBundle bundle(FindTensorBundle(kGoldens + "saver").value());
  const TensorMap tensors = ReadTensorflowWeights(bundle, Layers());
  EXPECT_EQ(tensors.size(), 12U);  // Slots, averages and the step left out.
  EXPECT_EQ(tensors.at("c1.weight"),
            FloatTensor({0, 2, 4, 6, 8, 10, 12, 14, 16,  //
                         1, 3, 5, 7, 9, 11, 13, 15, 17},
                        {2, 1, 3, 3}));
  EXPECT_EQ(tensors.at("c2.weight"),
            FloatTensor({100, 108, 104, 112, 101, 109, 105, 113,  //
                         102, 110, 106, 114, 103, 111, 107, 115},
                        {4, 2, 1, 2}));
  EXPECT_EQ(tensors.at("n1.bias"), FloatTensor({200, 201}));
  EXPECT_EQ(tensors.at("n1.weight"), FloatTensor({300, 301}));
  EXPECT_EQ(tensors.at("n1.running_mean"), FloatTensor({400, 401}));
  EXPECT_EQ(tensors.at("n1.running_var"), FloatTensor({500, 501}));
  EXPECT_EQ(tensors.at("n2.weight"), FloatTensor({900, 901, 902, 903}));
  EXPECT_EQ(tensors.at("fc.weight"),
            FloatTensor({1400, 1403, 1406, 1409, 1401, 1404, 1407, 1410, 1402,
                         1405, 1408, 1411},
                        {3, 4}));
  EXPECT_EQ(tensors.at("fc.bias"), FloatTensor({1600, 1601, 1602}));
}

TEST(TensorflowWeightsTest, CutsImagenetsBackgroundOff) {
  const TensorBundle bundle(kGoldens + "background");
  const auto read = [&](std::int64_t classes) {
    return ReadTensorflowWeights(
        bundle,
        {{.kind = LayerKind::kLinear, .name = "fc", .in = 1, .out = classes}});
  };
  std::vector<float> classes;
  for (int i = 1; i <= 1000; ++i) {
    classes.push_back(static_cast<float>(i));
  }
  EXPECT_EQ(read(1000).at("fc.bias"), FloatTensor(classes));
  EXPECT_EQ(read(1000).at("fc.weight"), FloatTensor(classes, {1000, 1}));
  EXPECT_EQ(read(5).at("fc.bias").shape, std::vector<std::int64_t>{1001});
}

TEST(SortedTableTest, UnfoldsSharedPrefixesOverRestarts) {
  const std::string file =
      ReadWholeFile(kGoldens + "saver/model.ckpt-1251.index", 1 << 20);
  const auto table = ParseSortedTable(std::as_bytes(std::span(file)));
  EXPECT_EQ(table.size(), 19U);
  EXPECT_TRUE(table.contains("batch_normalization_1/moving_variance"));
  EXPECT_TRUE(table.contains("dense/kernel/ExponentialMovingAverage"));
  EXPECT_TRUE(table.contains("global_step"));
}

}  // namespace
}  // namespace infeed
