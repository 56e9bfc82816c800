#include "tools/inspect/dataset_stats.h"

#include <cstddef>
#include <string>

#include <nlohmann/json.hpp>

#include "preprocess/codecs/png_codec.h"
#include "records/bytes/byte_size.h"
#include "tests/support/extra_feature.h"
#include "tests/support/flower_records.h"
#include "tests/support/matchers.h"
#include "tests/support/record_file.h"
#include "tests/support/seek_records.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"
#include "tools/inspect/dataset_stats_report.h"

namespace infeed {
namespace {

using Json = nlohmann::json;

std::string TextOf(const StatsReport& report, std::size_t max_classes = 20) {
  return RenderText(StatsTable(report, max_classes));
}

std::string JsonOf(const StatsReport& report) {
  return RenderJson(StatsTable(report, 20));
}

std::string Png(int width, int height) {
  return EncodePng(TestPhotograph(width, height, 1).view());
}

// Seven images of all kinds in two shards.
class DatasetStatsTest : public ::testing::Test {
 protected:
  DatasetStatsTest() {
    const std::string plain = TestJpeg({.width = 100, .height = 50});
    RecordFile()
        .Add(PayloadOf({plain, 1, "a.jpg", "ros\xC3\xA9 <&>"}))
        .Add(PayloadOf({plain, 1, "b.jpg", ""}))
        .Add(PayloadOf({TestJpeg({.width = 200,
                                  .quality = 60,
                                  .subsampling = Subsampling::k420,
                                  .progressive = true,
                                  .restart_interval = 2}),
                        2, "a.jpg", "", "", 99}))
        .Write(Path(0));
    RecordFile()
        .Add(PayloadOf({TestJpeg({.color = TestColor::kGray}), 3, "c"}))
        .Add(PayloadOf({TestJpeg({.color = TestColor::kAdobeCmyk}), 3, "d"}))
        .Add(PayloadOf({TestJpeg({.arithmetic = true}), 3, "e"}))
        .Add(PayloadOf({Png(40, 30), 3, "f"}))
        .Write(Path(1));
  }

  [[nodiscard]] std::string Path(int shard) const {
    return folder_ / ("train-0000" + std::to_string(shard) + "-of-00002");
  }
  [[nodiscard]] StatsReport Collect(int threads = 1,
                                    std::size_t samples = 0) const {
    return CollectStats({Path(0), Path(1)},
                        {.samples = samples, .threads = threads});
  }

  const TemporaryFolder folder_;
};

TEST_F(DatasetStatsTest, SaysWhatIsInTheImages) {
  const Json json = Json::parse(JsonOf(Collect()));
  EXPECT_EQ(json["records"], 7);
  EXPECT_EQ(json["images"], 7);
  EXPECT_EQ(json["formats"], Json({{"JPEG", 6}, {"PNG", 1}}));
  EXPECT_EQ(json["width"]["min"], 40);
  EXPECT_EQ(json["width"]["median"], 64);
  EXPECT_EQ(json["width"]["max"], 200);
  EXPECT_EQ(json["height"]["min"], 30);
  EXPECT_EQ(json["aspect_percent"]["max"], 417);
  EXPECT_EQ(json["bytes"]["count"], 7);
  const Json& jpeg = json["jpeg"];
  EXPECT_EQ(jpeg["coding"],
            Json({{"arithmetic", 1}, {"baseline", 4}, {"progressive", 1}}));
  EXPECT_EQ(jpeg["colors"], Json({{"CMYK", 1}, {"color", 4}, {"gray", 1}}));
  EXPECT_EQ(jpeg["sampling"]["4:2:0"], 1);
  EXPECT_EQ(jpeg["quality"]["min"], 60);
  EXPECT_EQ(jpeg["quality"]["histogram"],
            Json::parse("[[60, 60, 1], [90, 90, 5]]"));
  EXPECT_EQ(jpeg["restart_markers"], 1);
  EXPECT_EQ(jpeg["adobe_marker"], 1);
}

TEST_F(DatasetStatsTest, CountsClassesAndShards) {
  const Json json = Json::parse(JsonOf(Collect()));
  EXPECT_EQ(json["classes"],
            Json::parse("[{\"label\": 1, \"records\": 2, \"synset\": \"\","
                        "  \"text\": \"ros\xC3\xA9 <&>\"},"
                        " {\"label\": 2, \"records\": 1, \"synset\": \"\","
                        "  \"text\": \"\"},"
                        " {\"label\": 3, \"records\": 4, \"synset\": \"\","
                        "  \"text\": \"\"}]"));
  EXPECT_EQ(json["shards"][0]["file"], Path(0));
  EXPECT_EQ(json["shards"][0]["records"], 3);
  EXPECT_EQ(json["shards"][1]["bad"], 0);
}

TEST_F(DatasetStatsTest, FindsWhatIsTwiceThereOrWrong) {
  const Json json = Json::parse(JsonOf(Collect()));
  EXPECT_EQ(json["duplicate_names"]["values"], 1);
  EXPECT_EQ(json["duplicate_names"]["records"], 2);
  EXPECT_EQ(json["duplicate_images"]["examples"][0]["file"], Path(0));
  EXPECT_EQ(json["duplicate_images"]["examples"][0]["record"], 0);
  EXPECT_EQ(json["wrong_sizes"], 1);
}

TEST_F(DatasetStatsTest, SaysTheSameWhateverTheThreads) {
  EXPECT_EQ(JsonOf(Collect(1)), JsonOf(Collect(7)));
}

TEST_F(DatasetStatsTest, SaysItInWordsToo) {
  const StatsReport report = Collect();
  EXPECT_THAT(
      TextOf(report),
      AllOf(HasSubstr("records     7 in 2 shards"),
            HasSubstr("labels      1..3\n"),
            HasSubstr("classes     3, 1..4 records each, largest/smallest 4.0"),
            HasSubstr("    3        4  57.1 %  label 3\n"),
            HasSubstr("    1        2  28.6 %  ros\xC3\xA9 <&>\n"),
            HasSubstr("coding      arithmetic 1, baseline 4, progressive 1"),
            HasSubstr("1 file name occurs more than once, in 2 records")));
  EXPECT_THAT(TextOf(report, 2), HasSubstr("(1 more)"));
}

TEST_F(DatasetStatsTest, WritesOnePageWithPlotsAndImages) {
  const std::string html = StatsHtml(Collect(1, 2));
  EXPECT_THAT(html,
              AllOf(HasSubstr("ros\xC3\xA9 &lt;&amp;&gt;"), HasSubstr("<svg"),
                    Not(HasSubstr("<script")), Not(HasSubstr("src=\"http"))));
  std::size_t images = 0;
  for (std::size_t at = html.find("data:image/jpeg;base64,/9j/");
       at != std::string::npos; at = html.find("base64,", at + 30)) {
    ++images;
  }
  EXPECT_EQ(images, 2U);
}

TEST_F(DatasetStatsTest, ExamplesWithASeekIndexAreCounted) {
  RecordFile()
      .Add(PayloadWith(TestJpeg(), "any"))
      .Add(PayloadOf({TestJpeg(), 1}))
      .Write(Path(0));
  RecordFile().Write(Path(1));
  EXPECT_EQ(Json::parse(JsonOf(Collect()))["jpeg"]["seek_index"], 1);
  EXPECT_THAT(TextOf(Collect()), HasSubstr("JPEGs with  a seek index 1, "));
}

// A shard of texts: token ids, a target that is no label, and their bytes.
class TextStatsTest : public ::testing::Test {
 protected:
  [[nodiscard]] StatsReport Collect() const {
    return CollectStats({path_}, {.threads = 1, .keys = {.label = "target"}});
  }

  const TemporaryFolder folder_;
  const std::string path_ =
      RecordFile()
          .Add(ExtraInt64s("ids", {1, 2, 3}) + ExtraFloats("target", {0.5F}) +
               ExtraBytes("text", {"<abc>"}))
          .Add(ExtraInt64s("ids", {4}) + ExtraFloats("target", {0}) +
               ExtraBytes("text", {"d"}))
          .Write(folder_ / "train-00000-of-00001");
};

TEST_F(TextStatsTest, SayWhatIsInTheRecordsAndNothingOfImages) {
  EXPECT_EQ(TextOf(Collect()),
            R"(records     2 in 1 shard, no images, 0 bad
shards      2..2 records, )" +
                FileSizeText(Collect().shards[0].payload_bytes) + ".." +
                FileSizeText(Collect().shards[0].payload_bytes) + R"( each
features    3, with the number of values in a record and their range

feature  kind   records  min  median  max  range
ids      int64        2    1       1    3  1..4
target   float        2    1       1    1  0..0.5
text     bytes        2    1       1    1  1 B..5 B

read in Python by

infeed.Loader(")" +
                path_ +
                R"(", batch_size=32, views=(), fields={
    "ids": "int64",
    "target": infeed.Field("float32", ()),
    "text": infeed.Field("bytes", ())})
)");
}

// As in verify, a record is good if what is read of it can be.
TEST_F(TextStatsTest, AFeatureThatCannotBeParsedMakesNoRecordBad) {
  RecordFile()
      .Add(ExtraInt64s("ids", {1}))
      .Add(ExtraInt64s("ids", {2}) + ExtraFeature("other", 3, "\x0A\x7F"))
      .Write(path_);
  const StatsReport report = Collect();
  EXPECT_THAT(TextOf(report),
              AllOf(HasSubstr("records     2 in 1 shard, no images, 0 bad"),
                    HasSubstr("1 record has a feature that cannot be parsed"),
                    HasSubstr("\"ids\": infeed.Field(\"int64\", ())})")));
  const Json json = Json::parse(JsonOf(report));
  EXPECT_EQ(json["unreadable_features"], 1);
  ASSERT_EQ(json["features"].size(), 1U);
  EXPECT_EQ(json["features"][0]["records"], 2);
}

TEST_F(TextStatsTest, SayItToProgramsAndOnThePage) {
  const Json json = Json::parse(JsonOf(Collect()));
  EXPECT_EQ(json["features"][0], Json::parse(R"({"key": "ids",
      "kind": "int64", "records": 2, "min_values": 1, "median_values": 1,
      "max_values": 3, "range": [1, 4], "not_finite": 0})"));
  EXPECT_THAT(json["loader"].get<std::string>(), HasSubstr("infeed.Loader("));
  for (const char* key : {"formats", "jpeg", "missing", "width"}) {
    EXPECT_FALSE(json.contains(key)) << key;
  }
  EXPECT_THAT(StatsHtml(Collect()),
              AllOf(HasSubstr("<td>ids</td><td>int64</td><td>2</td>"),
                    HasSubstr("&quot;text&quot;: infeed.Field("),
                    Not(HasSubstr("of images")), Not(HasSubstr("without"))));
}

TEST_F(TextStatsTest, CountTheLabelsThatThereAre) {
  RecordFile().Add(ExtraInt64s("class", {7})).Write(path_);
  const StatsReport report =
      CollectStats({path_}, {.threads = 1, .keys = {.label = "class"}});
  EXPECT_THAT(TextOf(report), HasSubstr("labels      7..7\n"));
}

// Image records show only what else they have.
TEST_F(DatasetStatsTest, ShowsFeaturesBesidesThoseOfImages) {
  EXPECT_THAT(TextOf(Collect()), Not(HasSubstr("features")));
  EXPECT_FALSE(Json::parse(JsonOf(Collect())).contains("features"));
  RecordFile()
      .Add(PayloadOf({TestJpeg(), 1}) + ExtraBytes("caption", {"a rose"}))
      .Write(Path(1));
  const StatsReport report = Collect();
  EXPECT_THAT(TextOf(report),
              AllOf(HasSubstr("features    1, with"),
                    HasSubstr("\ncaption  bytes        1    1       1    1  "
                              "6 B\n"),
                    HasSubstr("3 records lack caption"),
                    Not(HasSubstr("infeed.Loader"))));
}

TEST_F(DatasetStatsTest, KeysThatRecordsLackAreOneLineEach) {
  RecordFile()
      .Add(PayloadOf({TestJpeg(), 1}) + ExtraBytes("a\n9 bad", {"x"}))
      .Write(Path(1));
  EXPECT_THAT(TextOf(Collect()), HasSubstr("3 records lack a\\x0a9 bad\n"));
}

}  // namespace
}  // namespace infeed
