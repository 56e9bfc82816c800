#include "trainer/log/mlperf_log.h"

#include <chrono>
#include <string>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "tests/support/temporary_folder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

TEST(MlperfLineTest, IsInTheFormOfMlperfLogging) {
  constexpr SourceLine kHere = SourceLine::Here();
  EXPECT_EQ(MlperfLine(MlperfLog::Clock::time_point(
                           std::chrono::milliseconds(1'700'000'000'123)),
                       "POINT_IN_TIME", "eval_accuracy", 0.5,
                       {{"epoch_num", std::int64_t{4}}}, kHere),
            ":::MLLOG {\"namespace\":\"\",\"time_ms\":1700000000123,"
            "\"event_type\":\"POINT_IN_TIME\",\"key\":\"eval_accuracy\","
            "\"value\":0.5,\"metadata\":{\"file\":\"mlperf_log_test.cc\","
            "\"lineno\":" +
                std::to_string(kHere.line) + ",\"epoch_num\":4}}\n");
}

TEST(MlperfLogTest, AddsLinesToAFile) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/run.log";
  WriteFileAtomically(path, "a line that ends nowhere");
  MlperfLog log(path);
  log.Start("run_start");
  constexpr int kEndLine = __LINE__ + 1;
  log.End("run_stop", {{"status", std::string("success")}});
  const std::string text = ReadWholeFile(path, 1 << 20);
  EXPECT_THAT(text, testing::StartsWith("a line that ends nowhere\n:::MLLOG "));
  const auto last =
      nlohmann::json::parse(text.substr(text.rfind(":::MLLOG ") + 9));
  EXPECT_EQ(last["event_type"], "INTERVAL_END");
  EXPECT_EQ(last["value"], nullptr);
  EXPECT_EQ(last["metadata"]["status"], "success");
  EXPECT_EQ(last["metadata"]["file"], "mlperf_log_test.cc");
  EXPECT_EQ(last["metadata"]["lineno"], kEndLine);
}

TEST(MlperfLogTest, WritesNothingWithoutAPath) {
  MlperfLog log("");
  log.Start("run_start");
  log.Point("seed", std::int64_t{1});
}

}  // namespace
}  // namespace infeed
