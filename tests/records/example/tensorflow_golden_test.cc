#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "records/example/imagenet_example.h"
#include "records/example/reader.h"
#include "records/tfrecord/reader.h"
#include "tests/support/bytes.h"
#include "tests/support/hex.h"

#include "gtest/gtest.h"

// A file that TensorFlow wrote; tests/data/README.md says how.
namespace infeed {
namespace {

using Json = nlohmann::json;

const std::string kFolder = INFEED_TEST_DATA;

Json Expected() {
  return Json::parse(ReadWholeFile(kFolder + "/tensorflow.json", 1 << 20));
}

// A feature as the JSON file has it.
struct ToJson {
  Json operator()(std::monostate /*none*/) const { return nullptr; }
  Json operator()(const std::vector<std::string_view>& values) const {
    Json list = Json::array();
    for (const std::string_view value : values) {
      list.push_back(ToHex(value));
    }
    return {{"kind", "bytes"}, {"values", list}};
  }
  Json operator()(const std::vector<float>& values) const {
    return {{"kind", "float"}, {"values", values}};
  }
  Json operator()(const std::vector<std::int64_t>& values) const {
    return {{"kind", "int64"}, {"values", values}};
  }
};

// JSON holds doubles: those of the file become the floats that TensorFlow
// stored.
Json WithFloats(Json feature) {
  if (feature.at("kind") == "float") {
    for (Json& value : feature.at("values")) {
      value = value.get<float>();
    }
  }
  return feature;
}

class TensorflowGoldenTest : public ::testing::TestWithParam<const char*> {
 protected:
  const std::string path_ = kFolder + "/" + GetParam();
};

INSTANTIATE_TEST_SUITE_P(Files, TensorflowGoldenTest,
                         ::testing::Values("tensorflow.tfrecord",
                                           "tensorflow.gzip.tfrecord",
                                           "tensorflow.zlib.tfrecord"));

TEST_P(TensorflowGoldenTest, EveryFeatureIsWhatTensorflowWrote) {
  TfrecordReader reader(path_);
  const Json expected = Expected().at("records");
  for (const Json& wanted : expected) {
    const std::optional<Record> record = reader.Next();
    ASSERT_TRUE(record.has_value());
    EXPECT_EQ(record->payload.size(), wanted.at("bytes"));
    const auto features = ListFeatures(record->payload);
    EXPECT_EQ(features.size(), wanted.at("features").size());
    for (const ExampleFeature& feature : features) {
      const std::string key(feature.key);
      EXPECT_EQ(std::visit(ToJson(), feature.values),
                WithFloats(wanted.at("features").at(key)))
          << key << " of record " << record->number;
    }
  }
  EXPECT_FALSE(reader.Next().has_value());
}

// The values that a parsed Example must have, by TensorFlow's own reading.
void ExpectView(const ImagenetExampleView& view, const Json& features) {
  const auto text = [&](const char* key, const char* absent) {
    return features.contains(key)
               ? features.at(key).at("values").at(0).get<std::string>()
               : ToHex(absent);
  };
  const auto number = [&](const char* key, std::int64_t absent) {
    return features.contains(key)
               ? features.at(key).at("values").at(0).get<std::int64_t>()
               : absent;
  };
  EXPECT_EQ(ToHex(AsText(view.encoded)), text("image/encoded", ""));
  EXPECT_EQ(ToHex(view.format), text("image/format", "jpeg"));
  EXPECT_EQ(ToHex(view.synset), text("image/class/synset", ""));
  EXPECT_EQ(ToHex(view.text), text("image/class/text", ""));
  EXPECT_EQ(ToHex(view.filename), text("image/filename", ""));
  EXPECT_EQ(view.label, number("image/class/label", -1));
  EXPECT_EQ(view.height, number("image/height", 0));
  EXPECT_EQ(view.width, number("image/width", 0));
}

TEST_P(TensorflowGoldenTest, ParsesItsExamples) {
  TfrecordReader reader(path_);
  const Json expected = Expected().at("records");
  for (const Json& wanted : expected) {
    const std::optional<Record> record = reader.Next();
    ASSERT_TRUE(record.has_value());
    SCOPED_TRACE(record->number);
    ExpectView(ParseImagenetExample(record->payload), wanted.at("features"));
  }
}

}  // namespace
}  // namespace infeed
