#include "trainer/model/image_size_schedule.h"

#include <optional>
#include <string>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

TEST(ImageSizeScheduleTest, WithoutTextTheSizeIsConstant) {
  const ImageSizeSchedule schedule("", 224);
  EXPECT_EQ(schedule.SizeAt(0), 224);
  EXPECT_EQ(schedule.SizeAt(1000), 224);
  EXPECT_EQ(schedule.NextChange(0), std::nullopt);
  EXPECT_EQ(schedule.largest(), 224);
}

TEST(ImageSizeScheduleTest, ChangesAtItsEpochs) {
  const ImageSizeSchedule schedule("0:160,30:256,60:192", 224);
  EXPECT_EQ(schedule.SizeAt(0), 160);
  EXPECT_EQ(schedule.SizeAt(29), 160);
  EXPECT_EQ(schedule.SizeAt(30), 256);
  EXPECT_EQ(schedule.SizeAt(60), 192);
  EXPECT_EQ(schedule.NextChange(0), 30U);
  EXPECT_EQ(schedule.NextChange(30), 60U);
  EXPECT_EQ(schedule.NextChange(60), std::nullopt);
  EXPECT_EQ(schedule.largest(), 256);
}

TEST(ImageSizeScheduleTest, HasSizesThatAreNotSquare) {
  const ImageSizeSchedule schedule("1:160x224,2:224x160,4:64x512",
                                   ImageSize(64, 96));
  EXPECT_EQ(schedule.SizeAt(0), ImageSize(64, 96));
  EXPECT_EQ(schedule.SizeAt(1), ImageSize(160, 224));
  EXPECT_EQ(schedule.NextChange(1), 2U);
  EXPECT_EQ(schedule.SizeAt(3), ImageSize(224, 160));
  EXPECT_EQ(schedule.largest().pixels(), 160U * 224);
}

TEST(ImageSizeScheduleTest, BeginsWithTheImageSizeWhichIsNoChange) {
  const ImageSizeSchedule schedule("5:64,9:96", 64);
  EXPECT_EQ(schedule.SizeAt(4), 64);
  EXPECT_EQ(schedule.SizeAt(9), 96);
  EXPECT_EQ(schedule.NextChange(0), 9U);
}

std::string ErrorOf(const std::string& text) {
  return MessageOf<UsageError>(
      [&] { const ImageSizeSchedule schedule(text, 224); });
}

TEST(ImageSizeScheduleTest, RefusesOtherText) {
  EXPECT_EQ(ErrorOf("160"),
            "image_size_schedule='160': '160' has no colon; give EPOCH:SIZE "
            "pairs, as '0:160,30:192,60:224'");
  for (const std::string bad :
       {"a:160", "1:", ":160", "-1:160", "1:0", "1:8193", "1:99999999999",
        "99999999999:160", "1: 160", "1:160x", "1:160x8193", "1:0x160"}) {
    EXPECT_THAT(ErrorOf(bad), HasSubstr("is not an epoch and a size of 1 to"))
        << bad;
  }
  EXPECT_THAT(ErrorOf("0:160,,9:192"), HasSubstr("'' has no colon"));
  EXPECT_THAT(ErrorOf("3:160,3:192"), HasSubstr("the epochs do not rise"));
  EXPECT_THAT(ErrorOf("3:160,2:192"), HasSubstr("the epochs do not rise"));
}

}  // namespace
}  // namespace infeed
