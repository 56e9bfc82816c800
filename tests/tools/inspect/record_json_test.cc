#include "tools/inspect/record_json.h"

#include <filesystem>
#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "tests/support/example_wire.h"
#include "tests/support/flower_records.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

// Takes minutes where each key is searched among those before it.
TEST(RecordJsonTest, ShowsManyFeaturesInLinearTime) {
  constexpr int kFeatures = 200'000;
  std::string example;
  for (int i = 0; i < kFeatures; ++i) {
    example += WireExample({{"image/key" + std::to_string(i), ""}});
  }
  const Record record = {.payload = std::as_bytes(std::span(example))};
  const auto json = nlohmann::json::parse(RecordJsonLine("shard", record));
  EXPECT_EQ(json["features"].size(), kFeatures);
  EXPECT_TRUE(json["features"].contains("image/key199999"));
}

class FlowerJsonTest : public ::testing::Test {
 protected:
  [[nodiscard]] nlohmann::json Json(const RecordJsonOptions& options) const {
    const Record record = {.payload = std::as_bytes(std::span(payload_))};
    return nlohmann::json::parse(
        RecordJsonLine("s/train-00001-of-00003", record, options));
  }

  const std::string jpeg_ = TestJpeg({.width = 31, .height = 17});
  const std::string payload_ = PayloadOf({jpeg_, 3, "3.jpg", "", "n3", 31, 17});
};

TEST_F(FlowerJsonTest, WritesBytesToFiles) {
  const TemporaryFolder folder;
  const std::string out = folder / "bytes";
  std::filesystem::create_directory(out);
  const std::string file =
      out + "/train-00001-of-00003-000000-image_encoded.jpg";
  EXPECT_EQ(Json({.keys = {}, .bytes_to = out})["features"]["image/encoded"],
            nlohmann::json({{"bytes", jpeg_.size()}, {"file", file}}));
  EXPECT_EQ(ReadWholeFile(file, 1 << 20), jpeg_);
}

}  // namespace
}  // namespace infeed
