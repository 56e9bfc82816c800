#include "records/example/fields.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "records/example/builder.h"
#include "records/example/imagenet_example.h"
#include "records/example/reader.h"
#include "tests/support/bytes.h"
#include "tests/support/extra_feature.h"
#include "tests/support/hex.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed::fields_test {

constexpr std::int64_t kRoom = 1000;

void ReadInto(const std::string& example, const std::vector<FieldSpec>& fields,
              std::int64_t max_bytes, std::vector<FieldColumn>& columns) {
  std::vector<FieldPlace> places;
  for (FieldColumn& column : columns) {
    places.push_back({.column = &column});
  }
  (void)FieldReader(fields, max_bytes)
      .Read(std::as_bytes(std::span(example)), places);
}

std::vector<FieldColumn> Read(const std::string& example,
                              const std::vector<FieldSpec>& fields,
                              std::int64_t max_bytes = kRoom) {
  std::vector<FieldColumn> columns(fields.size());
  ReadInto(example, fields, max_bytes, columns);
  return columns;
}

std::string MessageFor(const std::string& example, const FieldSpec& field,
                       std::int64_t max_bytes = kRoom) {
  return MessageOf<DataError>([&] { (void)Read(example, {field}, max_bytes); });
}

TEST(FieldsTest, AreListsOfAnyLength) {
  const std::string example = ExtraInt64s("boxes", {3, -1, 1'000'000'000'000}) +
                              ExtraFloats("scores", {0.5F, -2}) +
                              ExtraBytes("names", {"cat", "", "dog"});
  const std::vector<FieldColumn> columns =
      Read(example, {{.key = "scores", .kind = FeatureKind::kFloat},
                     {.key = "boxes", .kind = FeatureKind::kInt64},
                     {.key = "names", .kind = FeatureKind::kBytes}});
  EXPECT_THAT(columns[0].floats, ElementsAre(0.5F, -2));
  EXPECT_THAT(columns[0].offsets, ElementsAre(0, 2));
  EXPECT_THAT(columns[1].int64s, ElementsAre(3, -1, 1'000'000'000'000));
  EXPECT_THAT(columns[1].offsets, ElementsAre(0, 3));
  EXPECT_EQ(columns[2].bytes, "catdog");
  EXPECT_THAT(columns[2].byte_offsets, ElementsAre(0, 3, 3, 6));
  EXPECT_THAT(columns[2].offsets, ElementsAre(0, 3));
}

TEST(FieldsTest, AreEmptyWhereTheExampleHasNone) {
  const std::vector<FieldColumn> columns =
      Read(ExtraInt64s("a", {}) + ExtraInt64s("b", {1}),
           {{.key = "a"}, {.key = "c", .kind = FeatureKind::kFloat}});
  for (const FieldColumn& column : columns) {
    EXPECT_THAT(column.offsets, ElementsAre(0, 0));
    EXPECT_THAT(column.int64s, IsEmpty());
  }
}

TEST(FieldsTest, AreTheLastOnesGivenAndReplaceWhatAColumnHad) {
  const std::string example = ExtraInt64s("a", {3}) + ExtraInt64s("a", {1, 2});
  const std::vector<FieldSpec> fields = {{.key = "a"}};
  std::vector<FieldColumn> columns = Read(example, fields);
  ReadInto(example, fields, kRoom, columns);
  EXPECT_EQ(columns, Read(ExtraInt64s("a", {1, 2}), fields));
}

TEST(FieldsTest, RefuseAnotherKind) {
  EXPECT_THAT(MessageFor(ExtraFloats("a", {1}), {.key = "a"}),
              HasSubstr("Example key 'a' holds float, expected int64"));
  EXPECT_THAT(MessageFor(ExtraBytes("a", {}),
                         {.key = "a", .kind = FeatureKind::kFloat}),
              HasSubstr("Example key 'a' holds bytes, expected float"));
}

TEST(FieldsTest, RefuseMoreBytesThanAllowed) {
  const std::string numbers = ExtraInt64s("a", {1, 2, 3});
  EXPECT_EQ(Read(numbers, {{.key = "a"}}, 24).front().values(), 3);
  EXPECT_THAT(MessageFor(numbers, {.key = "a"}, 23),
              HasSubstr("Example key 'a': the values of the fields take more "
                        "than max_field_bytes"));
  const std::string text = ExtraBytes("t", {"12345678"});
  const FieldSpec field = {.key = "t", .kind = FeatureKind::kBytes};
  EXPECT_EQ(Read(text, {field}, 16).front().values(), 1);
  EXPECT_THAT(MessageFor(text, field, 15), HasSubstr("max_field_bytes"));
}

// A SequenceExample of TensorFlow: context len=[2], feature lists
// tok=[[1, 2], [3]].
const std::string kSequence = FromHex(
    "0a0e0a0c0a036c656e12051a030a0102"
    "12180a160a03746f6b120f0a061a040a0201020a051a030a0103");

TEST(FieldsTest, RefuseKeysThatOnlyASequenceExamplesListsHave) {
  const std::vector<FieldSpec> fields = {
      {.key = "tok"},
      {.key = "tok", .kind = FeatureKind::kBytes},
      {.key = "tok", .shape = {{2}}, .pad = std::string(8, '\0')},
      {.key = "tok", .shape = {{}}, .absent = std::string(8, '\0')}};
  for (const FieldSpec& field : fields) {
    std::vector<std::byte> row(16);
    std::int64_t length = 0;
    FieldColumn column;
    const std::vector<FieldPlace> places = {
        {.column = &column,
         .row = std::span(row).first(field.IsFixed() ? field.row_bytes() : 0),
         .length = &length}};
    EXPECT_EQ(MessageOf<DataError>([&] {
                (void)FieldReader(std::span(&field, 1), kRoom)
                    .Read(std::as_bytes(std::span(kSequence)), places);
              }),
              "Example key 'tok' is in the feature lists of a SequenceExample, "
              "which are not read");
  }
  // Other keys are the context's.
  const std::vector<FieldColumn> columns =
      Read(kSequence, {{.key = "len"}, {.key = "gone"}});
  EXPECT_THAT(columns[0].int64s, ElementsAre(2));
  EXPECT_EQ(columns[1].values(), 0);
}

TEST(FieldsTest, AnUnknownFieldOfAnExampleIsNoFeatureList) {
  for (const char* unknown : {"1203ffffff", "12020a09", "10050a00"}) {
    EXPECT_EQ(Read(ExtraInt64s("a", {1}) + FromHex(unknown),
                   {{.key = "a"}, {.key = "tok"}})
                  .at(1)
                  .values(),
              0);
  }
}

TEST(FieldsTest, RefuseWhatIsNoExample) {
  EXPECT_THAT(MessageFor("\x0a", {.key = "a"}),
              HasSubstr("not a tf.train.Example"));
}

TEST(FieldColumnTest, AppendsListsOneAfterTheOther) {
  const FieldSpec field = {.key = "t", .kind = FeatureKind::kBytes};
  FieldColumn all;
  all.AppendEmpty();
  all.Append(Read(ExtraBytes("t", {"ab", "c"}), {field}).front());
  all.Append(Read("", {field}).front());
  all.Append(Read(ExtraBytes("t", {"de"}), {field}).front());
  EXPECT_THAT(all.offsets, ElementsAre(0, 0, 2, 2, 3));
  EXPECT_THAT(all.byte_offsets, ElementsAre(0, 2, 3, 5));
  EXPECT_EQ(all.bytes, "abcde");
  // Whoever has the column may move its offsets.
  all.offsets.front() = 7;
  all.byte_offsets.front() = 7;
  all.Clear();
  EXPECT_EQ(all, FieldColumn());
}

TEST(FieldColumnTest, KeepsTheValuesWithTheseIndexes) {
  const std::vector<FieldSpec> fields = {
      {.key = "a"},
      {.key = "f", .kind = FeatureKind::kFloat},
      {.key = "t", .kind = FeatureKind::kBytes}};
  std::vector<FieldColumn> columns =
      Read(ExtraInt64s("a", {1, 2, 3, 4}) + ExtraFloats("f", {1, 2, 3, 4}) +
               ExtraBytes("t", {"ab", "", "c", "def"}),
           fields);
  const std::vector<std::uint32_t> indexes = {0, 2, 3};
  for (FieldColumn& column : columns) {
    column.Keep(indexes);
    EXPECT_THAT(column.offsets, ElementsAre(0, 3));
  }
  EXPECT_THAT(columns[0].int64s, ElementsAre(1, 3, 4));
  EXPECT_THAT(columns[1].floats, ElementsAre(1, 3, 4));
  EXPECT_EQ(columns[2].bytes, "abcdef");
  EXPECT_THAT(columns[2].byte_offsets, ElementsAre(0, 2, 3, 6));
  columns[2].Keep(std::vector<std::uint32_t>{1});
  EXPECT_EQ(columns[2].bytes, "c");
  for (FieldColumn& column : columns) {
    column.Keep({});
    FieldColumn empty;
    empty.AppendEmpty();
    EXPECT_EQ(column, empty);
  }
}

TEST(LabelListTest, TakesAnyNumberOfLabelsWhereToldSo) {
  const std::string one = ExtraInt64s(kLabelKey, {7});
  const std::string two = ExtraInt64s(kLabelKey, {7, 8});
  const auto label = [](const std::string& example, LabelList labels) {
    return ParseImagenetExample(std::as_bytes(std::span(example)), labels)
        .label;
  };
  EXPECT_EQ(label(one, LabelList::kAny), 7);
  EXPECT_EQ(label(two, LabelList::kAny), -1);
  EXPECT_THAT(
      MessageOf<DataError>([&] { (void)label(two, LabelList::kOne); }),
      HasSubstr("Example key 'image/class/label' has 2 values, expected 1"));
}

using Texts = std::vector<std::string_view>;
using Numbers = std::vector<std::int64_t>;
using Floats = std::vector<float>;

std::string Why(const std::vector<ExampleFeature>& features) {
  return WhyNoLabel(AsBytes(BuildExample(features)), "label");
}

// Describes a label that is not a number.
std::string WhyOf(const std::vector<ExampleFeature>& features) {
  std::string why = Why(features);
  const std::string begin = "there is no label: label ";
  const std::string end =
      "; a label is one whole number, from 0 or 1 on; other targets are read "
      "by fields";
  EXPECT_TRUE(why.starts_with(begin) && why.ends_with(end)) << why;
  return why.substr(begin.size(), why.size() - begin.size() - end.size());
}

TEST(MissingLabelTest, NamesTheKindOfTheLabel) {
  EXPECT_EQ(WhyOf({{"label", Texts{"cat\n"}}}), R"(is the text "cat\n")");
  EXPECT_EQ(WhyOf({{"label", Texts{"a", "b"}}}), "has 2 texts");
  EXPECT_EQ(WhyOf({{"label", Floats{2.5}}}), "is the float 2.5");
  EXPECT_EQ(WhyOf({{"label", Floats{0, 1, 0}}}),
            "has 3 numbers, a one-hot label");
  EXPECT_EQ(WhyOf({{"label", Numbers{0, 0, 1}}}),
            "has 3 numbers, a one-hot label");
  EXPECT_EQ(WhyOf({{"label", Numbers{4, 2}}}), "has 2 numbers");
  EXPECT_EQ(WhyOf({{"label", Numbers{-1}}}), "is -1");
  EXPECT_EQ(WhyOf({{"label", {}}}), "is empty");
}

TEST(MissingLabelTest, NamesTheKeysOfTheRecord) {
  EXPECT_EQ(Why({{"image", Texts{"?"}}, {"y", Numbers{1}}}),
            "there is no label: no label; the record has image, y: give "
            "label_key, or fields for other targets");
  EXPECT_EQ(Why({}), "there is no label: no label");
}

TEST(MissingLabelTest, NamesTheMembersOfASample) {
  const ExampleFeature key = {"__key__", Texts{"a"}};
  EXPECT_EQ(Why({key}), "there is no label: it has no .cls and no .json");
  EXPECT_EQ(Why({key, {"json", Texts{"{}"}}}),
            "there is no label: it has no .cls, and no label, cls or class in "
            "its .json");
  EXPECT_EQ(Why({key, {"json", Texts{R"({"label": "cat"})"}}}),
            "there is no label: it has no .cls, and label in its .json is "
            "\"cat\", not a whole number from 0 on");
  EXPECT_EQ(Why({key, {"json", Numbers{1}}}),
            "there is no label: it has no .cls and no .json");
  EXPECT_EQ(Why({key, {"cls", Texts{"cat"}}}),
            "there is no label: its .cls is the text \"cat\", not a whole "
            "number from 0 on; other targets are read by fields");
}

}  // namespace infeed::fields_test
