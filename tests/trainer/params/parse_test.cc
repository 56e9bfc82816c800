#include "trainer/params/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// "name=value" of each assignment.
std::vector<std::string> Texts(const std::vector<ParamAssignment>& list) {
  std::vector<std::string> texts;
  for (const ParamAssignment& given : list) {
    texts.push_back(given.name + "=" + given.value);
  }
  return texts;
}

std::vector<std::string> Override(std::string_view text) {
  return Texts(ParseOverride(text));
}

std::string OverrideError(std::string_view text) {
  return MessageOf<UsageError>([&] { (void)ParseOverride(text); });
}

TEST(ParseOverrideTest, TakesNothing) {
  EXPECT_THAT(Override(""), IsEmpty());
  EXPECT_THAT(Override("  "), IsEmpty());
}

TEST(ParseOverrideTest, TakesAList) {
  EXPECT_THAT(Override("train_steps=10,precision=float32"),
              ElementsAre("train_steps=10", "precision=float32"));
}

TEST(ParseOverrideTest, TakesSpacesAroundPieces) {
  EXPECT_THAT(Override(" a = 1 , b= x y ,c =2, "),
              ElementsAre("a=1", "b=x y", "c=2"));
}

TEST(ParseOverrideTest, TakesQuotedValues) {
  EXPECT_THAT(Override(R"(a='1,2',b="it's", c='')"),
              ElementsAre("a=1,2", "b=it's", "c="));
}

TEST(ParseOverrideTest, TakesAListOfValuesAsOneText) {
  EXPECT_THAT(Override("a=[3, 4],b=[],c.d=5"),
              ElementsAre("a=3,4", "b=", "c.d=5"));
}

TEST(ParseOverrideTest, KeepsLaterEqualsSignsAndColons) {
  EXPECT_THAT(Override("a=gs://b/c=d"), ElementsAre("a=gs://b/c=d"));
}

TEST(ParseOverrideTest, TakesYamlAndJson) {
  EXPECT_THAT(Override("a: 1\nb: x, y"), ElementsAre("a=1", "b=x, y"));
  EXPECT_THAT(Override(R"({"a": 1e-4, "b": null})"),
              ElementsAre("a=1e-4", "b=null"));
}

TEST(ParseOverrideTest, TakesTheNameOfAFile) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder.path() + "/a.yaml", "a: 1\n");
  EXPECT_THAT(Override(folder.path() + "/a.yaml"), ElementsAre("a=1"));
}

TEST(ParseOverrideTest, RefusesWhatIsNoneOfThem) {
  for (const char* text : {"train_steps", "a=", "=1", "1=2", "a='x", "a='x'y",
                           "a=1,,b=2", "a=[1", "a=[[1]]"}) {
    EXPECT_THAT(OverrideError(text), HasSubstr("not a list like a=1,b=2"))
        << text;
  }
  EXPECT_THAT(OverrideError("none.yaml"),
              HasSubstr("'none.yaml': not a list like a=1,b=2, not a YAML map, "
                        "and no such file"));
}

}  // namespace
}  // namespace infeed
