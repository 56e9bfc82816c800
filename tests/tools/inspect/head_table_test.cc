#include "tools/inspect/head_table.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "records/example/builder.h"
#include "records/example/imagenet_example.h"
#include "records/example/reader.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"

#include "gtest/gtest.h"

namespace infeed::head_table_test {

using Bytes = std::vector<std::string_view>;
using Floats = std::vector<float>;
using Ids = std::vector<std::int64_t>;

// The table of records in one shard.
std::string TableOf(const std::vector<std::vector<ExampleFeature>>& records) {
  const TemporaryFolder folder;
  const std::string path = RecordFile().Write(folder / "a.tfrecord");
  HeadTable table(std::string(kLabelKey),
                  [](const std::string& note) { ADD_FAILURE() << note; });
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::string payload = BuildExample(records[i]);
    table.Add(path, {.payload = std::as_bytes(std::span(payload)),
                     .number = static_cast<std::int64_t>(i)});
  }
  return table.Text();
}

TEST(HeadTable, ShowsTheFeaturesOfRecordsWithoutImages) {
  const std::string raw("\0\1", 2);
  EXPECT_EQ(TableOf({{{"ids", Ids{15354, -2, 7, 9}},
                      {"raw", Bytes{raw}},
                      {"target", Floats{0.5F}},
                      {"text", Bytes{"eine Z\xC3\xBC"
                                     "gelkiste, die sehr voll "
                                     "ist"}}},
                     {{"ids", Ids{}}, {"raw", {}}, {"target", Floats{1, 2}}}}),
            "shard       record  bytes  features\n"
            "a.tfrecord       0  113 B  ids=[15354,-2,7,\xE2\x80\xA6 of 4]  "
            "raw=2 B  target=0.5    text=eine Z\xC3\xBCgelkiste, die sehr voll "
            "i\xE2\x80\xA6\n"
            "a.tfrecord       1   48 B  ids=[]                   raw=     "
            "target=[1,2]\n");
}

// Labels of records without images are what they are: a float is not damage,
// and two that may be the label are both shown.
TEST(HeadTable, NeedsNoLabel) {
  EXPECT_EQ(TableOf({{{"target", Floats{1}}}}),
            "shard       record  bytes  features\n"
            "a.tfrecord       0   22 B  target=1\n");
  EXPECT_EQ(TableOf({{{"class", Ids{3}}, {"label", Ids{4}}}}),
            "shard       record  bytes  features\n"
            "a.tfrecord       0   34 B  class=3   label=4\n");
}

TEST(HeadTable, CountsFeaturesBeyondTheFirstOnes) {
  std::vector<ExampleFeature> features;
  const std::string keys = "abcdefghij";
  for (std::size_t i = 0; i < keys.size(); ++i) {
    features.push_back({std::string_view(keys).substr(i, 1), Ids{1}});
  }
  const std::string text = TableOf({features});
  EXPECT_NE(text.find("  h=1  and 2 more\n"), std::string::npos) << text;
}

TEST(HeadTable, ShowsImagesAndOtherRecordsApart) {
  EXPECT_EQ(TableOf({{{"image/encoded", Bytes{"damaged"}}, {"label", Ids{4}}},
                     {{"image/encoded", Bytes{""}}, {"label", Floats{1}}},
                     {{"target", Floats{1}}}}),
            "shard       record  label  text  size  bytes  filename\n"
            "a.tfrecord       0      4           -   48 B\n"
            "a.tfrecord       1      -           -   44 B\n"
            "\n"
            "shard       record  bytes  features\n"
            "a.tfrecord       2   22 B  target=1\n");
}

}  // namespace infeed::head_table_test
