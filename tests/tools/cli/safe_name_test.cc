#include "tools/cli/safe_name.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

using std::string_literals::operator""s;

TEST(SafeNameTest, KeepsGoodNames) {
  for (const char* name :
       {"n01440764_10026.JPEG", "ros\xC3\xA9 1.jpg", "a..b", "no extension"}) {
    EXPECT_EQ(SafeName(name), name);
  }
}

TEST(SafeNameTest, IsNeverHidden) {
  for (const std::string name : {".jpg", "._a.jpg", ".infeed", "__MACOSX"}) {
    EXPECT_EQ(SafeName(name), "_" + name);
  }
}

TEST(SafeNameTest, NeverLeavesItsFolder) {
  EXPECT_EQ(SafeName("../../etc/passwd"), "_.._.._etc_passwd");
  EXPECT_EQ(SafeName("/etc/passwd"), "_etc_passwd");
  EXPECT_EQ(SafeName("a\\b"), "a_b");
  EXPECT_EQ(SafeName(".."), "_");
  EXPECT_EQ(SafeName("."), "_");
  EXPECT_EQ(SafeName(""), "_");
  EXPECT_EQ(SafeName("a\0b\n\x7F"s), "a_b__");
  // Bytes that continue no character must not shorten a name to "..".
  const std::string bytes(300, '\x80');
  EXPECT_EQ(SafeName("..X" + bytes).size(), 198U);
  EXPECT_EQ(SafeName(".." + bytes).size(), 198U);
}

TEST(SafeNameTest, CutsLongNamesInFrontOfTheExtension) {
  const std::string name = SafeName(std::string(300, 'x').append(".JPEG"));
  EXPECT_EQ(name, std::string(195, 'x').append(".JPEG"));
  // Whole characters only.
  std::string text;
  for (int i = 0; i < 150; ++i) {
    text += "\xC3\xA9";
  }
  EXPECT_EQ(SafeName(text + "s.jpg"), text.substr(0, 196) + ".jpg");
  EXPECT_EQ(SafeName("x." + std::string(300, 'y')).size(), 200U);
}

}  // namespace
}  // namespace infeed
