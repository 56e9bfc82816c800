#include "tools/input/field_flag.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed::field_flag_test {

using Shape = std::vector<std::int64_t>;

TEST(FieldFlagTest, ReadsEachForm) {
  EXPECT_EQ(ParseField("txt=bytes"),
            (FieldSpec{.key = "txt", .kind = FeatureKind::kBytes}));
  EXPECT_EQ(ParseField("n=int64"), (FieldSpec{.key = "n"}));
  EXPECT_EQ(ParseField("s=float32[]"), (FieldSpec{.key = "s",
                                                  .kind = FeatureKind::kFloat,
                                                  .shape = Shape{},
                                                  .type = ItemType::kFloat32}));
  EXPECT_EQ(ParseField("m=int16[2,3],pad=-2"),
            (FieldSpec{.key = "m",
                       .shape = Shape{2, 3},
                       .type = ItemType::kInt16,
                       .pad = "\xfe\xff"}));
  EXPECT_EQ(ParseField("b=uint8[2],absent=7").absent, "\7\7");
  EXPECT_EQ(ParseField("t=bytes[],absent=none").absent, "none");
  EXPECT_TRUE(ParseField("r=float64[4],raw").is_raw);
}

TEST(FieldFlagTest, SaysWhatIsWrong) {
  const std::pair<std::string, std::string> kMistakes[] = {
      {"x", "give KEY=TYPE"},
      {"x=int", "a type that is not bytes is \"int\": give int64, "},
      {"x=int64[2", "a shape ends with ]"},
      {"x=int64[a]", "\"a\" is no side of a shape"},
      {"x=int64[0]", "a shape must have 1 to 2^28 values"},
      {"x=int8[2],pad=200", "\"200\" is no whole number of its type"},
      {"x=bool[2],pad=7", "\"7\" is no whole number of its type"},
      {"x=float32[2],pad=z", "\"z\" is no number"},
      {"x=int64[2],fill=1", "\"fill=1\" is none of pad=VALUE, "},
      {"x=bytes[2]", "bytes have no shape but ()"},
  };
  for (const auto& [text, what] : kMistakes) {
    EXPECT_THAT(MessageOf<UsageError>([&] { (void)ParseField(text); }),
                HasSubstr("--field " + text + ": "));
    EXPECT_THAT(MessageOf<UsageError>([&] { (void)ParseField(text); }),
                HasSubstr(what));
  }
}

TEST(ObjectsFlagTest, NamesAPreset) {
  CLI::App app;
  ObjectsSpec objects;
  AddObjectsFlag(app, objects);
  app.parse("--objects infeed");
  EXPECT_EQ(objects, ObjectsPreset("infeed"));
  EXPECT_THAT(MessageOf<UsageError>([&] { app.parse("--objects coco"); }),
              HasSubstr("objects is \"coco\""));
}

}  // namespace infeed::field_flag_test
