#include "trainer/log/messages.h"

#include <string>

#include <gtest/gtest.h>

namespace infeed {
namespace {

TEST(MessagesTest, NameUrlsWhileTheRunHasThem) {
  testing::internal::CaptureStderr();
  {
    const UrlsInMessages urls([](const std::string& text) {
      return text == "wrote /scratch/m" ? "wrote s3://b/m" : text;
    });
    Say("wrote /scratch/m");
    SayLines("step 1\nstep 2");
  }
  Say("wrote /scratch/m");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "wrote s3://b/m\nstep 1\nstep 2\nwrote /scratch/m\n");
}

}  // namespace
}  // namespace infeed
