#include "trainer/model/schedule_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace infeed {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A run of so many steps, ten of them an epoch.
LearningRateOptions Steps(std::int64_t steps, RateSchedule schedule,
                          double warmup_epochs = -1) {
  return {.schedule = schedule,
          .warmup_epochs = warmup_epochs,
          .batch_size = 10,
          .train_images = 100,
          .train_steps = steps};
}

TEST(ScheduleAdviceTest, NamesAnotherScheduleBelow18Epochs) {
  EXPECT_THAT(ScheduleAdvice(Steps(50, RateSchedule::kReference)),
              ElementsAre(AllOf(HasSubstr("made for 90 epochs, and in 5 it"),
                                HasSubstr("--preset finetune"))));
  EXPECT_THAT(ScheduleAdvice(Steps(179, RateSchedule::kReference)),
              ElementsAre(HasSubstr("in 17.9 it")));
  EXPECT_THAT(ScheduleAdvice(Steps(180, RateSchedule::kReference)), IsEmpty());
  EXPECT_THAT(ScheduleAdvice(Steps(50, RateSchedule::kCosine)), IsEmpty());
  LearningRateOptions lars = Steps(100, RateSchedule::kReference);
  lars.lars = true;
  EXPECT_THAT(ScheduleAdvice(lars), IsEmpty());
}

TEST(ScheduleAdviceTest, SaysThatARunIsLessThanAnEpoch) {
  EXPECT_THAT(ScheduleAdvice(Steps(9, RateSchedule::kCosine)),
              ElementsAre("short run: train_steps=9 is 0.9 of an epoch; "
                          "train_epochs=1 trains on all images once"));
  EXPECT_THAT(ScheduleAdvice(Steps(10, RateSchedule::kCosine)), IsEmpty());
}

TEST(ScheduleAdviceTest, SaysThatTheWarmUpOutlastsTheRun) {
  EXPECT_THAT(ScheduleAdvice(Steps(20, RateSchedule::kCosine, 2)),
              ElementsAre(HasSubstr("warm-up takes 20 steps of "
                                    "train_steps=20")));
  EXPECT_THAT(ScheduleAdvice(Steps(21, RateSchedule::kCosine, 2)), IsEmpty());
}

}  // namespace
}  // namespace infeed
