#include "trainer/params/parse.h"

#include <string>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

// "name=value" of each assignment.
std::vector<std::string> Texts(const std::vector<OptionAssignment>& list) {
  std::vector<std::string> texts;
  for (const OptionAssignment& given : list) {
    texts.push_back(given.name + "=" + given.value);
  }
  return texts;
}

struct Parsed {
  std::string text;
  std::vector<std::string> assignments;
};

std::string OverrideError(std::string_view text) {
  return MessageOf<UsageError>([&] { (void)ParseOverride(text); });
}

TEST(ParseOverrideTest, TakesListsMapsAndJson) {
  for (const auto& [text, assignments] : std::vector<Parsed>{
           {"", {}},
           {"  ", {}},
           {"steps=10,precision=float32", {"steps=10", "precision=float32"}},
           {" a = 1 , b= x y ,c =2, ", {"a=1", "b=x y", "c=2"}},
           {R"(a='1,2',b="it's", c='')", {"a=1,2", "b=it's", "c="}},
           {"a=[3, 4],b=[],c.d=5", {"a=3,4", "b=", "c.d=5"}},
           {"a=gs://b/c=d", {"a=gs://b/c=d"}},
           {"a: 1\nb: x, y", {"a=1", "b=x, y"}},
           {R"({"a": 1e-4, "b": null})", {"a=1e-4", "b=null"}}}) {
    EXPECT_EQ(Texts(ParseOverride(text)), assignments) << text;
  }
}

TEST(ParseOverrideTest, TakesTheNameOfAFile) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder / "a.yaml", "a: 1\n");
  EXPECT_EQ(Texts(ParseOverride(folder / "a.yaml")),
            std::vector<std::string>{"a=1"});
}

TEST(ParseOverrideTest, RefusesWhatIsNoneOfThem) {
  for (const char* text : {"train_steps", "a=", "=1", "1=2", "a='x", "a='x'y",
                           "a=1,,b=2", "a=[1", "a=[[1]]"}) {
    EXPECT_THAT(OverrideError(text), HasSubstr("not a list like a=1,b=2"))
        << text;
  }
  EXPECT_THAT(OverrideError("image_size:64"),
              HasSubstr("params_override: give a list like image_size=64"));
  EXPECT_THAT(OverrideError("none.yaml"),
              HasSubstr("'none.yaml': not a list like a=1,b=2, not a YAML map, "
                        "and no such file"));
}

std::string YamlError(std::string_view text) {
  return MessageOf<UsageError>([&] { (void)ParseParamYaml(text, "run.yaml"); });
}

TEST(ParseParamYamlTest, TakesMapsOfTextsMapsAndLists) {
  for (const auto& [text, assignments] : std::vector<Parsed>{
           {"", {}},
           {"# nothing\n", {}},
           {"---\n", {}},
           {"{}", {}},
           {"a: 1e-4  # small\nb: 'x: y'\nc: 010\nd:\ne: ~\n",
            {"a=1e-4", "b=x: y", "c=010", "d=null", "e=null"}},
           {"a: {b: 1, c: {d: 2}}\ne: 3\nf: {}\n", {"a.b=1", "a.c.d=2", "e=3"}},
           {"a: [3, 4]\nb:\n- x\n- ~\nc: []\n", {"a=3,4", "b=x,null", "c="}}}) {
    EXPECT_EQ(Texts(ParseParamYaml(text, "run.yaml")), assignments) << text;
  }
}

TEST(ParseParamYamlTest, SaysWhereAValueStands) {
  const auto list = ParseParamYaml("a: 1\n\nb: 2\n", "run.yaml");
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[1].place, " (run.yaml, line 3)");
}

TEST(ParseParamYamlTest, RefusesWhatIsNoMapOfValues) {
  const std::string list = "a list stands where a name or a value should";
  for (const auto& [text, why] :
       std::vector<std::pair<std::string, std::string>>{
           {"[1, 2]", "not a map of parameters"},
           {"text", "not a map of parameters"},
           {"a: 1\nb: [[1]]", list + " (run.yaml, line 2)"},
           {"a: [{b: 1}]", "a map stands where"},
           {"? {a: 1}\n: 2", "a map stands where"},
           {"? [a]\n: 2", list},
           {"a: {b: {c: {d: {e: 1}}}}",
            "maps lie more than 4 deep (run.yaml, line 1)"},
           {"a: 1\nb: {c: 2}\nb: {c: 3}\n",
            "b.c is there twice: leave one out (run.yaml, line 3)"},
           {"a: 1\n---\nb: 2\n", "more than one document"},
           {"a: &x 1\nb: *x\n", "are not read"},
           {"a: 'x", "not YAML: "},
           {"a: b: c", "(run.yaml, line 1)"},
           // It does not go there.
           {std::string(30'000, '['), list},
           {"a: " + std::string(30'000, '{'), "a map stands where"},
           {std::string(70'000, ' '),
            "run.yaml: parameters of 70000 bytes, more than 65536"}}) {
    EXPECT_THAT(YamlError(text), HasSubstr(why)) << text.substr(0, 80);
  }
}

TEST(ReadParamFileTest, NamesAFileThatIsNotThere) {
  EXPECT_THAT(MessageOf<IoError>([] { (void)ReadParamFile("none.yaml"); }),
              HasSubstr("none.yaml: cannot open: No such file"));
}

}  // namespace
}  // namespace infeed
