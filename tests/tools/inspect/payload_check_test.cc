#include "tools/inspect/payload_check.h"

#include <cstddef>
#include <string>

#include "base/error.h"
#include "tests/support/bytes.h"
#include "tests/support/example_wire.h"
#include "tests/support/flower_records.h"
#include "tests/support/matchers.h"
#include "tests/support/test_jpeg.h"
#include "tests/support/throws.h"

namespace infeed::payload_check_test {

std::string ErrorOf(const std::string& payload, bool decode) {
  return MessageOf<DataError>(
      [&] { (void)PayloadCheck(decode).Check(AsBytes(payload)); });
}

TEST(PayloadCheckTest, DecodesImagesOnlyWhenToldTo) {
  EXPECT_EQ(ErrorOf(PayloadOf({TestJpeg()}), true), "");
  EXPECT_EQ(ErrorOf(PayloadOf({"not a JPEG"}), false), "");
  EXPECT_NE(ErrorOf(PayloadOf({"not a JPEG"}), true), "");
  EXPECT_THAT(ErrorOf("not an Example", false),
              HasSubstr("not a tf.train.Example"));
}

TEST(PayloadCheckTest, NeedsAnImageOnlyToDecodeIt) {
  const std::string text = WireExample({{"text", ""}});
  EXPECT_EQ(ErrorOf(text, false), "");
  EXPECT_EQ(ErrorOf(text, true),
            "no image/encoded; it has text: give image_key");
}

TEST(PayloadCheckTest, CountsPixelsThatAreReady) {
  const auto number = [](char value) {
    return WireField(3, WireField(1, std::string(1, value)));
  };
  const auto record = [&](std::size_t bytes) {
    return WireExample({{"image/height", number(3)},
                        {"image/width", number(2)},
                        {"image/packed",
                         WireField(1, WireField(1, std::string(bytes, 'x')))}});
  };
  EXPECT_EQ(ErrorOf(record(24), true), "");
  EXPECT_THAT(ErrorOf(record(23), false),
              HasSubstr("image/packed holds 23 bytes, not 4 for each pixel of "
                        "2x3"));
}

}  // namespace infeed::payload_check_test
