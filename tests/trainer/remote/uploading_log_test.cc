#include "trainer/remote/uploading_log.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using testing::ElementsAre;

// Notes what it is told.
class NotingLog final : public RunLog {
 public:
  explicit NotingLog(std::vector<std::string>& notes) : notes_(notes) {}

  void BeginLoop(double /*waited*/) override { notes_.emplace_back("begin"); }
  void FirstBatch(const Batch& /*batch*/) override {}
  void Step(const StepResult& result, double /*waited*/) override {
    notes_.push_back("step " + std::to_string(result.step));
  }
  void EndLoop(const LoopEnd& end, const PipelineStats& /*input*/,
               const PipelineStats& /*of_all_loops*/) override {
    notes_.push_back("end of loop " + std::to_string(end.step));
  }
  void Evaluation(std::int64_t step, const EvalResult& /*result*/) override {
    notes_.push_back("evaluation " + std::to_string(step));
  }
  void CheckpointWritten(std::int64_t step,
                         const std::string& folder) override {
    notes_.push_back("checkpoint " + std::to_string(step) + " " + folder);
  }
  void End(std::int64_t step, RunEnd end) override {
    notes_.push_back(std::string(RunEndName(end)) + " at " +
                     std::to_string(step));
  }
  void Say(const std::string& line) override { notes_.push_back(line); }
  [[nodiscard]] double images_per_second() const override { return 17; }
  [[nodiscard]] std::string device_text() const override { return "fast"; }
  [[nodiscard]] RunTimes times() const override {
    RunTimes times;
    times.loops = 3;
    return times;
  }

 private:
  std::vector<std::string>& notes_;
};

class UploadingLogTest : public testing::Test {
 protected:
  std::vector<std::string> notes_;
  UploadingLog log_{
      std::make_unique<NotingLog>(notes_),
      {.checkpoint =
           [this](std::int64_t step, const std::string& folder) {
             notes_.push_back("upload " + std::to_string(step) + " " + folder);
           },
       .end = [this] { notes_.emplace_back("upload the rest"); }}};
};

TEST_F(UploadingLogTest, PassesAllOn) {
  log_.BeginLoop(0);
  log_.Step({.step = 4}, 0);
  log_.EndLoop({.step = 5}, {}, {});
  log_.Evaluation(5, {});
  log_.Say("a line");
  EXPECT_THAT(notes_, ElementsAre("begin", "step 4", "end of loop 5",
                                  "evaluation 5", "a line"));
  EXPECT_EQ(log_.images_per_second(), 17);
  EXPECT_EQ(log_.device_text(), "fast");
  EXPECT_EQ(log_.times().loops, 3);
}

// What the log writes of it is to be uploaded with it.
TEST_F(UploadingLogTest, UploadsWhenTheLogHasWritten) {
  log_.CheckpointWritten(7, "folder");
  log_.End(8, RunEnd::kStopped);
  EXPECT_THAT(notes_, ElementsAre("checkpoint 7 folder", "upload 7 folder",
                                  "stopped at 8", "upload the rest"));
}

}  // namespace
}  // namespace infeed
