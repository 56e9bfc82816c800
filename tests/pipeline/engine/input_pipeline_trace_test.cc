// The trace of a run.

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "pipeline/engine/input_pipeline.h"
#include "pipeline/stats/trace_log.h"
#include "tests/support/matchers.h"
#include "tests/support/stream_reader.h"

namespace infeed::input_pipeline_trace_test {

class InputPipelineTraceTest : public ::testing::Test {
 protected:
  // Runs one epoch, with its pipeline gone at the end.
  void Run(InputOptions options) {
    options.trace = &log_;
    InputPipeline pipeline(SharedIndex(), options);
    (void)TakeBatches(pipeline, 100);
    stats_ = pipeline.stats();
  }

  std::map<std::string_view, std::vector<TraceEvent>> Spans() const {
    std::map<std::string_view, std::vector<TraceEvent>> spans;
    for (const TraceLog::Thread& thread : log_.Read()) {
      for (const TraceEvent& event : thread.events) {
        if (!event.is_count) {
          spans[event.name].push_back(event);
        }
      }
    }
    return spans;
  }

  TraceLog log_;
  PipelineStats stats_;
};

double Seconds(const std::vector<TraceEvent>& spans) {
  std::chrono::duration<double> sum{};
  for (const TraceEvent& span : spans) {
    sum += span.length;
  }
  return sum.count();
}

// Two spans of one thread are apart or one holds the other.
void ExpectNested(std::vector<TraceEvent> spans) {
  std::ranges::sort(spans, [](const TraceEvent& a, const TraceEvent& b) {
    return a.start != b.start ? a.start < b.start : a.length > b.length;
  });
  std::vector<TraceLog::Clock::time_point> ends;
  for (const TraceEvent& span : spans) {
    while (!ends.empty() && ends.back() <= span.start) {
      ends.pop_back();
    }
    if (!ends.empty()) {
      EXPECT_LE(span.start + span.length, ends.back()) << span.name;
    }
    ends.push_back(span.start + span.length);
  }
}

TEST_F(InputPipelineTraceTest, SpansAddUpToTheStagesBusyTime) {
  Run(SmallEvaluation());
  auto spans = Spans();
  for (const char* const name : {"order", "read", "decode", "resize"}) {
    EXPECT_NEAR(Seconds(spans[name]), stats_.stage(name)->busy_seconds, 1e-9)
        << name;
  }
  EXPECT_NEAR(Seconds(spans["wait"]), stats_.stage("order")->wait_seconds,
              1e-9);
  EXPECT_NEAR(Seconds(spans["batch"]),
              stats_.first_wait_seconds + stats_.consumer_wait_seconds, 1e-9);
}

TEST_F(InputPipelineTraceTest, HasAStageOfAugmentationWhereItIsOn) {
  InputOptions options = SmallEvaluation();
  Run(options);
  EXPECT_EQ(stats_.stage("augment"), nullptr);
  EXPECT_TRUE(Spans()["augment"].empty());
  options.training = true;
  options.repeat = 1;
  options.preprocess.augment.policy = AugmentPolicy::kRandAugment;
  Run(options);
  const std::vector<TraceEvent> spans = Spans()["augment"];
  EXPECT_EQ(spans.size(), 20U);  // Of whole batches.
  const StageStats* const stage = stats_.stage("augment");
  ASSERT_NE(stage, nullptr);
  EXPECT_EQ(stage->items, 20);
  EXPECT_EQ(stage->bytes, 20 * 16 * 16 * 4);
  EXPECT_NEAR(Seconds(spans), stage->busy_seconds, 1e-9);
}

TEST_F(InputPipelineTraceTest, HasASpanForEachSampleAndBatch) {
  Run(SmallEvaluation());
  auto spans = Spans();
  EXPECT_EQ(spans["read"].size(), 22U);
  EXPECT_EQ(spans["decode"].size(), 22U);
  EXPECT_EQ(spans["resize"].size(), 22U);
  EXPECT_EQ(spans["order"].size(), 6U);
  ASSERT_EQ(spans["batch"].size(), 6U);
  EXPECT_EQ(spans["batch"].back().place.batch, 5);
  EXPECT_EQ(spans["batch"].back().place.position, 20);
  for (const TraceEvent& span : spans["decode"]) {
    EXPECT_EQ(span.place.batch, span.place.position / 4);
  }
}

TEST_F(InputPipelineTraceTest, NamesThreadsAndCountsQueues) {
  Run(SmallEvaluation());
  std::map<std::string_view, std::int64_t> most;
  for (const TraceLog::Thread& thread : log_.Read()) {
    for (const TraceEvent& event : thread.events) {
      if (event.is_count) {
        most[event.name] = std::max(most[event.name], event.count);
      } else if (event.name == "order") {
        EXPECT_EQ(thread.name, "infeed driver");
      } else if (event.name == "decode") {
        EXPECT_THAT(thread.name, StartsWith("infeed work "));
      }
    }
  }
  EXPECT_EQ(most.size(), 3U);
  EXPECT_GE(most["waiting"], 1);
  EXPECT_GE(most["ready"], 1);
  EXPECT_LE(most["in_flight"], 4);
}

TEST_F(InputPipelineTraceTest, SpansOfAThreadNest) {
  for (const GraphKind graph : {GraphKind::kFlow, GraphKind::kBasic}) {
    InputOptions options = SmallEvaluation();
    options.graph = graph;
    Run(options);
  }
  for (const TraceLog::Thread& thread : log_.Read()) {
    std::vector<TraceEvent> spans = thread.events;
    std::erase_if(spans,
                  [](const TraceEvent& event) { return event.is_count; });
    ExpectNested(std::move(spans));
  }
}

}  // namespace infeed::input_pipeline_trace_test
