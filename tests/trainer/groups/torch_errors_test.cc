#include "trainer/groups/torch_errors.h"

#include <new>
#include <stdexcept>
#include <string>

#include <ATen/ATen.h>
#include <c10/util/Exception.h>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed::torch_errors_test {

std::string Named(const std::string& asked) { return "no room for " + asked; }

// The message of TranslateTorchErrors() if work throws.
template <typename Work>
std::string MessageOfDoor(Work work, const OutOfMemoryText& text = Named) {
  return MessageOf<IoError>([&] { TranslateTorchErrors(work, text); });
}

TEST(TorchErrorsTest, ErrorsLoseTheirFramesAndLineBreaks) {
  const auto add = [] { (void)at::add(at::zeros({2, 3}), at::zeros({4, 5})); };
  EXPECT_THAT(MessageOf<c10::Error>(add), HasSubstr("frame #0"));
  EXPECT_THAT(MessageOfDoor(add),
              AllOf(HasSubstr("must match"), Not(HasSubstr("frame #")),
                    Not(HasSubstr("\n"))));
  EXPECT_EQ(ErrorText(std::runtime_error("one\ntwo\n")), "one two");
  EXPECT_EQ(ErrorText(std::runtime_error(
                "no\nException raised from f at g.cc:1\nframe #0: h")),
            "no");
}

TEST(TorchErrorsTest, MemoryThatRanOutIsNamed) {
  const auto allocate = [] {
    (void)at::empty({std::int64_t{1} << 60}, at::kByte);
  };
  EXPECT_EQ(MessageOfDoor(allocate), "no room for 1099511627776 MiB more");
  EXPECT_EQ(MessageOfDoor(allocate, {}),
            "out of memory: 1099511627776 MiB more was refused");
  EXPECT_EQ(MessageOfDoor([] { throw std::bad_alloc(); }), "no room for more");
  EXPECT_EQ(MessageOfDoor([] {
              TORCH_CHECK(false, "CUDA out of memory. Tried to allocate ",
                          "2.50 GiB (GPU 0; 15.90 GiB total capacity)");
            }),
            "no room for 2560 MiB more");
}

TEST(TorchErrorsTest, OurErrorsPassAsTheyAre) {
  EXPECT_EQ(
      MessageOf<UsageError>([] {
        TranslateTorchErrors([] { throw UsageError("out of memory\nhere"); });
      }),
      "out of memory\nhere");
  int runs = 0;
  TranslateTorchErrors([&] { ++runs; });
  EXPECT_EQ(runs, 1);
}

}  // namespace infeed::torch_errors_test
