#include "tools/images/key_points.h"

#include <string>
#include <vector>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed::key_points_test {

TEST(KeyPointsTest, AShapeIsAsInDataYaml) {
  EXPECT_EQ(ParseKptShape("17,3"), 51U);
  EXPECT_EQ(ParseKptShape("4,2"), 8U);
  EXPECT_EQ(ParseKptShape("none"), 0U);
  for (const std::string text :
       {"", "17", "0,2", "17,4", "17,3,1", "a,2", "10001,2", "-1,2", ",2"}) {
    EXPECT_EQ(MessageOf<UsageError>([&] { (void)ParseKptShape(text); }),
              "--kpt_shape " + text +
                  ": must be the number of key points and 2 or 3, such as "
                  "17,3, or none");
  }
}

// A tenth of a side beyond the box, and one line in ten.
TEST(KeyPointsTest, SomePointsMayBeOutside) {
  const std::vector<double> in = {0, 0.5, 0.5, 0.5, 0.5, 0.78, 0.24};
  const std::vector<double> out = {0, 0.5, 0.5, 0.5, 0.5, 0.85, 0.24};
  KeyPointSigns signs;
  signs.Add(out);
  EXPECT_FALSE(signs.AreFound());
  for (int i = 0; i < 8; ++i) {
    signs.Add(in);
  }
  EXPECT_FALSE(signs.AreFound());
  signs.Add(in);
  EXPECT_TRUE(signs.AreFound());
  EXPECT_EQ(signs.Text(), "all 10 lines have 7 numbers");
}

TEST(KeyPointsTest, FilesCountTogether) {
  const std::vector<double> line = {0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5};
  KeyPointSigns signs;
  signs.Add(KeyPointSigns());
  EXPECT_FALSE(signs.AreFound());
  KeyPointSigns file;
  file.Add(line);
  signs.Add(file);
  signs.Add(KeyPointSigns());
  EXPECT_TRUE(signs.AreFound());
  KeyPointSigns boxes;
  boxes.Add(std::vector<double>(line.begin(), line.begin() + 5));
  EXPECT_FALSE(boxes.AreFound());
  signs.Add(boxes);
  EXPECT_FALSE(signs.AreFound());
}

}  // namespace infeed::key_points_test
