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
std::vector<std::string> Texts(const std::vector<OptionAssignment>& list) {
  std::vector<std::string> texts;
  for (const OptionAssignment& given : list) {
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

std::string YamlError(std::string_view text) {
  return MessageOf<UsageError>([&] { (void)ParseParamYaml(text, "run.yaml"); });
}

TEST(ParseParamYamlTest, KeepsTextAsItIsWritten) {
  EXPECT_THAT(Texts(ParseParamYaml("a: 1e-4  # small\nb: 'x: y'\nc: 010\n"
                                   "d:\ne: ~\n",
                                   "run.yaml")),
              ElementsAre("a=1e-4", "b=x: y", "c=010", "d=null", "e=null"));
}

TEST(ParseParamYamlTest, TakesAnEmptyText) {
  EXPECT_THAT(ParseParamYaml("", "run.yaml"), IsEmpty());
  EXPECT_THAT(ParseParamYaml("# nothing\n", "run.yaml"), IsEmpty());
  EXPECT_THAT(ParseParamYaml("---\n", "run.yaml"), IsEmpty());
  EXPECT_THAT(ParseParamYaml("{}", "run.yaml"), IsEmpty());
}

TEST(ParseParamYamlTest, SaysWhereAValueStands) {
  const auto list = ParseParamYaml("a: 1\n\nb: 2\n", "run.yaml");
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[1].place, " (run.yaml, line 3)");
}

TEST(ParseParamYamlTest, JoinsNamesOfMapsInMaps) {
  EXPECT_THAT(Texts(ParseParamYaml("a: {b: 1, c: {d: 2}}\ne: 3\nf: {}\n", "")),
              ElementsAre("a.b=1", "a.c.d=2", "e=3"));
}

TEST(ParseParamYamlTest, JoinsTheValuesOfAList) {
  EXPECT_THAT(Texts(ParseParamYaml("a: [3, 4]\nb:\n- x\n- ~\nc: []\n", "")),
              ElementsAre("a=3,4", "b=x,null", "c="));
}

TEST(ParseParamYamlTest, RefusesWhatIsNoMapOfValues) {
  EXPECT_THAT(YamlError("[1, 2]"), HasSubstr("not a map of parameters"));
  EXPECT_THAT(YamlError("text"), HasSubstr("not a map of parameters"));
  EXPECT_THAT(YamlError("a: 1\nb: [[1]]"),
              HasSubstr("a list stands where a name or a value should "
                        "(run.yaml, line 2)"));
  EXPECT_THAT(YamlError("a: [{b: 1}]"), HasSubstr("a map stands where"));
  EXPECT_THAT(YamlError("? {a: 1}\n: 2"), HasSubstr("a map stands where"));
  EXPECT_THAT(YamlError("? [a]\n: 2"), HasSubstr("a list stands where"));
  EXPECT_THAT(YamlError("a: {b: {c: {d: {e: 1}}}}"),
              HasSubstr("maps lie more than 4 deep (run.yaml, line 1)"));
}

TEST(ParseParamYamlTest, RefusesASecondDocument) {
  EXPECT_THAT(YamlError("a: 1\n---\nb: 2\n"),
              HasSubstr("more than one document"));
}

TEST(ParseParamYamlTest, RefusesAnchorsAndAliases) {
  EXPECT_THAT(YamlError("a: &x 1\nb: *x\n"), HasSubstr("are not read"));
}

TEST(ParseParamYamlTest, RefusesWhatIsNotYaml) {
  EXPECT_THAT(YamlError("a: 'x"), HasSubstr("not YAML: "));
  EXPECT_THAT(YamlError("a: b: c"), HasSubstr("(run.yaml, line 1)"));
}

TEST(ParseParamYamlTest, RefusesDepthWithoutGoingThere) {
  EXPECT_THAT(YamlError(std::string(30'000, '[')),
              HasSubstr("a list stands where"));
  EXPECT_THAT(YamlError("a: " + std::string(30'000, '{')),
              HasSubstr("a map stands where"));
}

TEST(ParseParamYamlTest, RefusesALongText) {
  EXPECT_THAT(
      YamlError(std::string(70'000, ' ')),
      HasSubstr("run.yaml: parameters of 70000 bytes, more than 65536"));
}

TEST(ReadParamFileTest, NamesAFileThatIsNotThere) {
  EXPECT_THAT(MessageOf<IoError>([] { (void)ReadParamFile("none.yaml"); }),
              HasSubstr("none.yaml: cannot open: No such file"));
}

}  // namespace
}  // namespace infeed
