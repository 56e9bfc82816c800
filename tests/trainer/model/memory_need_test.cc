#include "trainer/model/memory_need.h"

#include <cstdint>

#include "tests/support/matchers.h"

namespace infeed {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

MemoryNeed TrainingStep() {
  return {.step = "a training step",
          .batch_parameter = "train_batch_size",
          .images = 64,
          .image_size = 224,
          .in_parts = true,
          .device = 600 * kMiB,
          .input = 300 * kMiB};
}

MemoryThere Machine(std::int64_t mib, std::int64_t available) {
  return {.machine = mib * kMiB, .available = available * kMiB};
}

TEST(MemoryNeedTest, SaysWhatIsNeededAndThere) {
  MemoryNeed need = TrainingStep();
  EXPECT_EQ(MemoryNeedText(need, Machine(2000, 1500)),
            "about 600 MiB for a training step of 64 images of 224 x 224 "
            "pixels in float32, up to 300 MiB for the input; 2000 MiB in this "
            "machine, 1500 MiB of them free");
  need.image_size = {160, 224};
  EXPECT_THAT(MemoryNeedText(need, Machine(2000, 1500)),
              HasSubstr("64 images of 160 x 224 pixels"));
}

TEST(MemoryNeedTest, WarnsOfMoreThanIsFree) {
  const MemoryNeed need = TrainingStep();
  EXPECT_EQ(MemoryWarning(need, Machine(900, 900)), "");
  EXPECT_FALSE(NeverFits(need, Machine(900, 100)));
  EXPECT_TRUE(NeverFits(need, Machine(899, 100)));
  EXPECT_EQ(MemoryWarning(need, Machine(2000, 899)),
            "memory may not suffice: about 600 MiB for a training step of 64 "
            "images of 224 x 224 pixels in float32, up to 300 MiB for the "
            "input, but there are 2000 MiB in this machine, 899 MiB of them "
            "free; if it runs out, lower train_batch_size, image_size or "
            "memory_limit, raise gradient_accumulation_steps, or give "
            "precision=bfloat16");
}

TEST(MemoryNeedTest, CountsTheProcessesOfAMachine) {
  MemoryNeed need = TrainingStep();
  need.processes = 4;
  EXPECT_EQ(MemoryWarning(need, Machine(4000, 3600)), "");
  EXPECT_THAT(MemoryWarning(need, Machine(4000, 3599)),
              HasSubstr("for the input, in each of 4 processes, but"));
  EXPECT_EQ(MemoryWarning(need, {}), "");  // Unknown memory.
}

TEST(MemoryNeedTest, OnAGpuTheStepIsThere) {
  MemoryNeed need = TrainingStep();
  need.on_gpu = true;
  MemoryThere there = Machine(400, 300);
  there.gpu = 600 * kMiB;
  EXPECT_EQ(MemoryWarning(need, there), "");
  there.gpu -= 1;
  EXPECT_TRUE(NeverFits(need, there));
  EXPECT_THAT(MemoryWarning(need, there),
              AllOf(HasSubstr("600 MiB on the GPU for a training step"),
                    HasSubstr("; 600 MiB free on the GPU")));
}

TEST(MemoryNeedTest, SaysWhatRanOutInOneLine) {
  MemoryNeed need = TrainingStep();
  need.step = "an evaluation";
  need.batch_parameter = "eval_batch_size";
  need.in_parts = false;
  need.precision = Precision::kBfloat16;
  EXPECT_THAT(
      MemoryRanOut(need, Machine(2000, 500), "120 MiB more"),
      AllOf(HasSubstr("out of memory: 120 MiB more was refused; needed are "
                      "about 600 MiB for an evaluation of 64 images of 224 x "
                      "224 pixels in bfloat16"),
            HasSubstr("there were 2000 MiB in this machine, 500 MiB of them "
                      "free; lower eval_batch_size, image_size or "
                      "memory_limit"),
            Not(HasSubstr("gradient_accumulation")), Not(HasSubstr("\n"))));
}

}  // namespace
}  // namespace infeed
