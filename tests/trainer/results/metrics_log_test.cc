#include "trainer/results/metrics_log.h"

#include <cmath>
#include <filesystem>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "tests/support/temporary_folder.h"

namespace infeed {
namespace {

TEST(MetricsLogTest, WritesOneObjectALine) {
  EXPECT_EQ(MetricsLine(1.5, "train", 3, {{"loss", 0.25}, {"top_1", 1.0}}),
            "{\"schema\":1,\"time\":1.5,\"event\":\"train\",\"step\":3,"
            "\"loss\":0.25,\"top_1\":1.0}\n");
}

TEST(MetricsLogTest, WritesNullForWhatIsNotFinite) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_THAT(MetricsLine(0, "train", 1, {{"a", std::nan("")}, {"b", -inf}}),
              testing::HasSubstr("\"a\":null,\"b\":null}"));
}

TEST(MetricsLogTest, KeepsEachValuesType) {
  EXPECT_THAT(MetricsLine(0, "loop", 1,
                          {{"steps", std::int64_t{3}},
                           {"warm_up", true},
                           {"file", "a \"b\" \xff"}}),
              testing::HasSubstr("\"steps\":3,\"warm_up\":true,\"file\":"
                                 "\"a \\\"b\\\" \xef\xbf\xbd\"}"));
}

TEST(MetricsLogTest, WritesListsOfObjects) {
  const EventObjects objects = {
      {{"name", "mm"}, {"calls", std::int64_t{2}}, {"share", std::nan("")}},
      {}};
  const nlohmann::json line = nlohmann::json::parse(MetricsLine(
      0, "profile", 1, {{"all", objects}, {"none", EventObjects()}}));
  EXPECT_EQ(line["all"], nlohmann::json::parse(
                             R"([{"name":"mm","calls":2,"share":null},{}])"));
  EXPECT_EQ(line["none"], nlohmann::json::array());
}

TEST(MetricsLogTest, AppendsToTheFileOfAnEarlierRun) {
  const TemporaryFolder folder;
  MetricsLog(folder.path()).Write("train", 1, {});
  MetricsLog(folder.path()).Write("end", 2, {{"x", 1.0}});
  const std::string text =
      ReadWholeFile(folder.path() + "/metrics.jsonl", 1000);
  EXPECT_THAT(text, testing::MatchesRegex(
                        "\\{\"schema\":1,.*\"train\",\"step\":1\\}\n"
                        "\\{\"schema\":1,.*\"end\",\"step\":2,\"x\":1.0\\}\n"));
}

TEST(MetricsLogTest, EndsALineThatWasCutShort) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder.path() + "/metrics.jsonl", "{\"schema\":1,\"ti");
  MetricsLog(folder.path()).Write("end", 2, {});
  EXPECT_THAT(ReadWholeFile(folder.path() + "/metrics.jsonl", 1000),
              testing::StartsWith("{\"schema\":1,\"ti\n{\"schema\":1,"));
}

TEST(MetricsLogTest, WritesOnWhereTheFileIsRemovedMovedOrCut) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/metrics.jsonl";
  const auto text = [&] { return ReadWholeFile(path, 1000); };
  MetricsLog log(folder.path());
  log.Write("train", 1, {});
  std::filesystem::remove(path);
  log.Write("train", 2, {});
  EXPECT_THAT(text(), testing::MatchesRegex("[^\n]*\"step\":2\\}\n"));
  std::filesystem::rename(path, path + ".1");
  log.Write("train", 3, {});
  EXPECT_THAT(text(), testing::MatchesRegex("[^\n]*\"step\":3\\}\n"));
  std::filesystem::resize_file(path, 9);
  log.Write("train", 4, {});
  EXPECT_THAT(text(),
              testing::MatchesRegex("\\{\"schema\"\n\\{[^\n]*\"step\":4\\}\n"));
  // A link is not followed: the lines stay in the file that is open.
  std::filesystem::rename(path, path + ".2");
  std::filesystem::create_symlink(path + ".1", path);
  log.Write("train", 5, {});
  EXPECT_THAT(ReadWholeFile(path + ".2", 1000),
              testing::HasSubstr("\"step\":5}\n"));
}

}  // namespace
}  // namespace infeed
