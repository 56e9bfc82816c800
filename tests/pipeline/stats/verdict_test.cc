#include "pipeline/stats/verdict.h"

#include "tests/support/made_stats.h"
#include "tests/support/matchers.h"

namespace infeed {
namespace {

TEST(VerdictTest, NamesTheStageTheThreadsTheDeviceAndTheWayOut) {
  PipelineStats stats = BusyRun();
  stats.seek_indexes = {.used = 500, .refused = 0, .none = 780};
  stats.outside_pixels = 103'000'000;
  EXPECT_EQ(Verdict(stats),
            "decode bounds the run with 79 % of the work: 2 threads at 86 %; "
            "the device waited 90 % of the time and can take 1216 images/s; at "
            "least 15.5 more cores of this kind would feed it; 31 % of the "
            "pixels decoded are outside the crops: build seek indexes (records "
            "index --seek)");
}

TEST(VerdictTest, ADeviceThatDoesNothingHasNoRate) {
  PipelineStats stats = BusyRun();
  stats.consumer_wait_seconds = 10;
  EXPECT_EQ(Verdict(stats),
            "decode bounds the run with 79 % of the work: 2 threads at 86 %; "
            "4 cores of this kind would give 269 images/s; smaller images in "
            "the shards would cost less");
}

// The consumer's waits do not matter.
TEST(VerdictTest, IsSilentAboutADeviceWhereThereIsNone) {
  PipelineStats stats = BusyRun();
  stats.has_device = false;
  for (const double wait : {0.0, 0.1, 9.0, 9.8, 10.0}) {
    stats.consumer_wait_seconds = wait;
    EXPECT_EQ(Verdict(stats),
              "decode bounds the run with 79 % of the work: 2 threads at 86 "
              "%; 4 cores of this kind would give 269 images/s; smaller "
              "images in the shards would cost less");
  }
  stats.stages[0].wait_seconds = 5;
  stats.stages[2].busy_seconds = 5;
  EXPECT_EQ(Verdict(stats),
            "the batch pool bounds the run: no batch was free for 2 threads at "
            "41 %: a larger batches_in_pool would help");
  stats.stages[0].wait_seconds = 0;
  EXPECT_THAT(Verdict(stats), Not(HasSubstr("device")));
}

TEST(VerdictTest, CountsOnTheCoresThatThreadsLeaveIdle) {
  PipelineStats stats = BusyRun();
  stats.has_device = false;
  stats.cores = 16;
  EXPECT_THAT(
      Verdict(stats),
      HasSubstr("; this machine's 16 cores would give 1078 images/s; "));
  stats.overlapped = false;
  stats.threads = 1;
  EXPECT_EQ(Verdict(stats),
            "nothing overlaps (graph=basic): one thread did the work; with "
            "graph=flow this machine's 16 cores would give 1078 images/s");
}

TEST(VerdictTest, AdvisesSeekIndexesWhereMostImagesHaveNone) {
  PipelineStats stats = BusyRun();
  stats.seek_indexes = {.used = 500, .refused = 0, .none = 780};
  EXPECT_THAT(Verdict(stats),
              EndsWith("it; build seek indexes (records index --seek)"));
  stats.seek_indexes = {.used = 780, .refused = 0, .none = 500};
  EXPECT_THAT(Verdict(stats), EndsWith("; smaller images in the shards would "
                                       "cost less"));
  stats.seek_indexes = {.none = 1280, .rows = 1000, .covered_rows = 700};
  EXPECT_THAT(Verdict(stats),
              EndsWith("; seek indexes cover 70 % of the rows so far: later "
                       "epochs decode less"));
  stats.seek_indexes = {.used = 80, .refused = 1000, .none = 200};
  EXPECT_THAT(Verdict(stats), HasSubstr("build seek indexes anew"));
}

TEST(VerdictTest, BlamesDisksWhereReadingTakesLongest) {
  PipelineStats stats = BusyRun();
  stats.stages[1].busy_seconds = 16;
  stats.stages[2].busy_seconds = 2;
  stats.storage_bytes = 70'000'000;
  EXPECT_THAT(Verdict(stats), HasSubstr("read bounds the run with 76 %"));
  EXPECT_THAT(Verdict(stats), HasSubstr("50 % of what was read came from "
                                        "disks"));
  stats.storage_bytes = 0;
  EXPECT_THAT(Verdict(stats), HasSubstr("page cache or a network"));
  stats.of_image_files = true;
  EXPECT_THAT(Verdict(stats), HasSubstr("shards of the same images are read"));
}

TEST(VerdictTest, BlamesTheStageThatTakesLongest) {
  EXPECT_EQ(Verdict({}), "no batch has been delivered yet");
  PipelineStats stats = BusyRun();
  stats.stages[2].busy_seconds = 3;
  stats.stages[3].busy_seconds = 15;
  EXPECT_THAT(Verdict(stats),
              AllOf(HasSubstr("resize bounds the run"),
                    EndsWith("a smaller image_size would cost less")));
  stats.stages[3].busy_seconds = 3;
  stats.stages[4].busy_seconds = 13;
  EXPECT_THAT(Verdict(stats),
              AllOf(HasSubstr("augment bounds the run"),
                    EndsWith("a lighter augmentation would cost less")));
}

TEST(VerdictTest, AcquitsTheInputOfADeviceThatNeverWaits) {
  PipelineStats stats = BusyRun();
  stats.consumer_wait_seconds = 0.1;
  stats.stages[2].busy_seconds = 5;
  EXPECT_EQ(
      Verdict(stats),
      "the device bounds the run: it waited 1 % of the time for its "
      "input, with 2 threads at 41 %; fewer input threads would be enough");
  stats.stages[2].busy_seconds = 15;
  EXPECT_THAT(Verdict(stats), EndsWith("with 2 threads at 86 %"));
}

TEST(VerdictTest, AdvisesALargerPoolWhereWorkersIdleForWantOfBatches) {
  PipelineStats stats = BusyRun();
  stats.consumer_wait_seconds = 3;
  stats.stages[0].wait_seconds = 5;
  stats.stages[2].busy_seconds = 5;
  EXPECT_EQ(Verdict(stats),
            "the batch pool bounds the run: no batch was free for 2 threads at "
            "41 %; the device waited 30 % of the time and can take 174 "
            "images/s; it takes its batches in bursts: a larger "
            "batches_in_pool would help");
}

TEST(VerdictTest, AdvisesTheFlowGraphWhereNothingOverlaps) {
  PipelineStats stats = BusyRun();
  stats.overlapped = false;
  stats.threads = 1;
  stats.stages[1].busy_seconds = 1;
  stats.stages[2].busy_seconds = 6;
  stats.stages[3].busy_seconds = 2;
  EXPECT_EQ(Verdict(stats),
            "nothing overlaps (graph=basic): the device waited 90 % of the "
            "time and can take 1216 images/s, while one thread did the work; "
            "graph=flow works ahead of it: at least 9 threads would feed it");
}

// 1,760 images in 11 s, beside 1,280 that were made here.
PipelineStats WithTwoWorkers() {
  PipelineStats stats = BusyRun();
  stats.images = 3040;
  stats.workers = {
      {.address = "a:1", .state = "open", .images = 1000, .open_seconds = 11},
      {.address = "b:1", .state = "open", .images = 760, .open_seconds = 11},
      {.address = "c:1", .state = "lost"}};
  stats.stages.insert(stats.stages.end() - 1, {"receive", 1760, 0, 0.1, 0});
  return stats;
}

TEST(VerdictTest, CountsTheWorkersThatWouldFeedTheDevice) {
  PipelineStats stats = WithTwoWorkers();
  // Of 2,888 images/s that it can take, 121.6 are made here.
  EXPECT_THAT(Verdict(stats),
              EndsWith("; 2 input workers made 80 images/s each: at least "
                       "32.6 more of them would feed it"));
  stats.has_device = false;
  stats.workers.resize(1);
  EXPECT_THAT(Verdict(stats),
              EndsWith("; 1 input worker made 91 images/s: more of them, or "
                       "more threads, would make more"));
  stats = WithTwoWorkers();
  stats.consumer_wait_seconds = 0.1;  // The input is fast enough.
  EXPECT_THAT(Verdict(stats), Not(HasSubstr("input worker")));
}

TEST(VerdictTest, SaysWhereReceivingCostsAsMuchAsMaking) {
  PipelineStats stats = WithTwoWorkers();
  stats.consumer_wait_seconds = 0.1;
  stats.stages[5].busy_seconds = 1.76 * 7.3;  // Making 1,000 takes 14.84 s.
  EXPECT_THAT(Verdict(stats), Not(HasSubstr("gain little")));
  stats.stages[5].busy_seconds = 1.76 * 7.5;
  EXPECT_THAT(Verdict(stats),
              EndsWith("; input workers gain little here: receiving costs 7.50 "
                       "CPU s per 1,000 images, making them 14.84"));
}

TEST(VerdictTest, SaysThatNothingWasMadeHere) {
  PipelineStats stats = WithTwoWorkers();
  for (StageStats& stage : stats.stages) {
    if (stage.name != "receive") {
      stage.items = 0;
      stage.busy_seconds = 0;
    }
  }
  EXPECT_THAT(Verdict(stats),
              EndsWith("; input workers made all images: what cores here make "
                       "was not measured"));
  stats.consumer_wait_seconds = 0.1;
  EXPECT_THAT(Verdict(stats), Not(HasSubstr("measured")));
}

TEST(VerdictTest, SaysThatNoWorkerIsThere) {
  PipelineStats stats = BusyRun();
  EXPECT_THAT(Verdict(stats), Not(HasSubstr("input worker")));
  stats.workers = {{.address = "a:1", .state = "connecting"},
                   {.address = "b:1", .state = "refused"}};
  EXPECT_THAT(Verdict(stats), EndsWith("; no input worker is there: the local "
                                       "threads fill all batches"));
}

TEST(VerdictTest, MentionsBadRecordsWhereThereAreMany) {
  PipelineStats stats = BusyRun();
  stats.bad_record_totals = {.samples = 1280, .bad_samples = 38};
  EXPECT_THAT(Verdict(stats), EndsWith("; 3 % of the samples met a bad record: "
                                       "bad_record_report lists them"));
  stats.bad_record_totals.bad_samples = 1;
  EXPECT_THAT(Verdict(stats), Not(HasSubstr("bad")));
}

TEST(VerdictTest, DoubtsARunThatIsTooShort) {
  PipelineStats stats = BusyRun();
  stats.stages[2].busy_seconds = 1;
  stats.stages[0].wait_seconds = 0;
  EXPECT_THAT(Verdict(stats), HasSubstr("not clear what bounds the run"));
  EXPECT_THAT(Verdict(stats), HasSubstr("too short to tell"));
}

}  // namespace
}  // namespace infeed
