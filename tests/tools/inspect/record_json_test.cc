#include "tools/inspect/record_json.h"

#include <cstddef>
#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include "tests/support/example_wire.h"

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

}  // namespace
}  // namespace infeed
