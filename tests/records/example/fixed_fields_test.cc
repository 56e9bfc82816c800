// Fields of a fixed shape, by the rules of tf.io.parse_example.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "records/example/fields.h"
#include "tests/support/bytes.h"
#include "tests/support/extra_feature.h"
#include "tests/support/hex.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed::fixed_fields_test {

using Json = nlohmann::json;
using Shape = std::vector<std::int64_t>;

// The bytes of items.
template <typename T>
std::string BytesOf(const std::vector<T>& items) {
  return {reinterpret_cast<const char*>(items.data()),
          items.size() * sizeof(T)};
}

template <typename T>
struct Row {
  std::vector<T> items;
  std::int64_t length = -1;
  int cut = 0;
};

template <typename T>
Row<T> Read(const std::string& example, const FieldSpec& field) {
  const std::vector<FieldSpec> fields = {field};
  CheckFields(fields);
  Row<T> row = {
      .items = std::vector<T>(static_cast<std::size_t>(field.items()), T{99})};
  const FieldPlace place = {.row = std::as_writable_bytes(std::span(row.items)),
                            .length = &row.length};
  row.cut = FieldReader(fields, 0).Read(std::as_bytes(std::span(example)),
                                        {&place, 1});
  return row;
}

std::string MessageFor(const std::string& example, const FieldSpec& field) {
  return MessageOf<DataError>(
      [&] { (void)Read<std::int64_t>(example, field); });
}

// One case of field_goldens.json, in items of T.
template <typename T>
void ExpectAsTensorFlow(const Json& golden, FeatureKind kind, ItemType type) {
  FieldSpec field = {.key = "t",
                     .kind = kind,
                     .shape = golden["shape"].get<std::vector<std::int64_t>>(),
                     .type = type};
  if (!golden["pad"].is_null()) {
    field.pad = BytesOf<T>({golden["pad"].get<T>()});
  }
  if (!golden["absent"].is_null()) {
    field.absent = BytesOf(golden["absent"].get<std::vector<T>>());
  }
  const std::string example = FromHex(golden["payload"].get<std::string>());
  if (golden["values"].is_null()) {
    EXPECT_THROW((void)Read<T>(example, field), DataError);
  } else {
    EXPECT_EQ(Read<T>(example, field).items,
              golden["values"].get<std::vector<T>>());
  }
}

// The values of a list as the goldens have them.
Json ValuesOf(const FieldColumn& column, FeatureKind kind) {
  if (kind == FeatureKind::kInt64) {
    return column.int64s;
  }
  if (kind == FeatureKind::kFloat) {
    return column.floats;
  }
  Json values = Json::array();
  for (std::size_t i = 0; i + 1 < column.byte_offsets.size(); ++i) {
    const auto begin = static_cast<std::size_t>(column.byte_offsets[i]);
    const auto end = static_cast<std::size_t>(column.byte_offsets[i + 1]);
    values.push_back(
        ToHex(std::string_view(column.bytes).substr(begin, end - begin)));
  }
  return values;
}

// One case of a list of any length, or of one string.
void ExpectListAsTensorFlow(const Json& golden, FeatureKind kind) {
  FieldSpec field = {.key = "t", .kind = kind};
  if (!golden["shape"].is_null()) {
    field.shape = Shape{};
  }
  if (!golden["absent"].is_null()) {
    field.absent = golden["absent"].get<std::string>();
  }
  const std::string example = FromHex(golden["payload"].get<std::string>());
  FieldColumn column;
  const FieldPlace place = {.column = &column};
  const auto read = [&] {
    (void)FieldReader({&field, 1}, 1000)
        .Read(std::as_bytes(std::span(example)), {&place, 1});
  };
  if (golden["values"].is_null()) {
    EXPECT_THROW(read(), DataError);
  } else {
    read();
    EXPECT_EQ(ValuesOf(column, kind), golden["values"]);
  }
}

TEST(FixedFieldsTest, AreWhatTensorFlowParses) {
  std::ifstream file(INFEED_TEST_DATA "/field_goldens.json");
  const Json goldens = Json::parse(file);
  ASSERT_GE(goldens["cases"].size(), 50U);
  for (const Json& golden : goldens["cases"]) {
    SCOPED_TRACE(golden["name"].get<std::string>());
    const std::string type = golden["type"];
    const FeatureKind kind = type == "int64"     ? FeatureKind::kInt64
                             : type == "float32" ? FeatureKind::kFloat
                                                 : FeatureKind::kBytes;
    if (golden["shape"].is_null() || kind == FeatureKind::kBytes) {
      ExpectListAsTensorFlow(golden, kind);
    } else if (kind == FeatureKind::kInt64) {
      ExpectAsTensorFlow<std::int64_t>(golden, kind, ItemType::kInt64);
    } else {
      ExpectAsTensorFlow<float>(golden, kind, ItemType::kFloat32);
    }
  }
}

TEST(FixedFieldsTest, ShorterListsArePaddedAndLongerOnesCut) {
  const FieldSpec field = {
      .key = "t", .shape = Shape{4}, .pad = BytesOf<std::int64_t>({0})};
  const Row<std::int64_t> shorter =
      Read<std::int64_t>(ExtraInt64s("t", {101, 7, 102}), field);
  EXPECT_THAT(shorter.items, ElementsAre(101, 7, 102, 0));
  EXPECT_EQ(shorter.length, 3);
  EXPECT_EQ(shorter.cut, 0);
  const Row<std::int64_t> longer =
      Read<std::int64_t>(ExtraInt64s("t", {101, 7, 8, 9, 102}), field);
  EXPECT_THAT(longer.items, ElementsAre(101, 7, 8, 9));
  EXPECT_EQ(longer.length, 4);
  EXPECT_EQ(longer.cut, 1);
  EXPECT_EQ(Read<std::int64_t>(ExtraInt64s("u", {1}), field).length, 0);
}

// As protobuf joins them, which TensorFlow's parser does not.
TEST(FixedFieldsTest, TwoListsOfAFeatureAreOne) {
  const std::string list = WireText(1, "\1") + WireText(1, "\2");
  EXPECT_THAT(Read<std::int64_t>(ExtraFeature("t", 3, list),
                                 {.key = "t", .shape = Shape{2}})
                  .items,
              ElementsAre(1, 2));
}

TEST(FixedFieldsTest, AbsentReplacesAMissingKeyAlone) {
  FieldSpec field = {.key = "t",
                     .shape = Shape{2},
                     .pad = BytesOf<std::int64_t>({-1}),
                     .absent = BytesOf<std::int64_t>({5, 6})};
  EXPECT_THAT(Read<std::int64_t>("", field).items, ElementsAre(5, 6));
  EXPECT_EQ(Read<std::int64_t>("", field).length, 2);
  EXPECT_THAT(Read<std::int64_t>(ExtraInt64s("t", {}), field).items,
              ElementsAre(-1, -1));
}

TEST(FixedFieldsTest, PaddingAtTheEndOfAbsentIsNoLength) {
  const auto length = [](const std::vector<std::int64_t>& absent) {
    return Read<std::int64_t>("", {.key = "t",
                                   .shape = Shape{3},
                                   .pad = BytesOf<std::int64_t>({-1}),
                                   .absent = BytesOf(absent)})
        .length;
  };
  EXPECT_EQ(length({-1, -1, -1}), 0);
  EXPECT_EQ(length({5, -1, -1}), 1);
  EXPECT_EQ(length({-1, 5, -1}), 2);
  EXPECT_EQ(length({-1, -1, 5}), 3);
}

// The least and the largest value of each type, and those beside them.
TEST(FixedFieldsTest, ValuesMustFitTheType) {
  const auto expect = [](ItemType type, std::int64_t least,
                         std::int64_t largest) {
    const std::string name(ChoiceName(type, kItemTypes));
    SCOPED_TRACE(name);
    const FieldSpec field = {.key = "t", .shape = Shape{}, .type = type};
    for (const std::int64_t value : {least, largest}) {
      const std::string example = ExtraInt64s("t", {value});
      std::int64_t length = 0;
      std::int64_t item = 0;
      const FieldPlace place = {
          .row = std::as_writable_bytes(std::span(&item, 1))
                     .first(field.row_bytes()),
          .length = &length};
      const std::vector<FieldSpec> fields = {field};
      (void)FieldReader(fields, 0).Read(std::as_bytes(std::span(example)),
                                        {&place, 1});
      // The lowest bytes, which come last on big-endian CPUs.
      const std::size_t skipped =
          std::endian::native == std::endian::big ? 8 - field.row_bytes() : 0;
      EXPECT_TRUE(std::ranges::equal(place.row,
                                     std::as_bytes(std::span(&value, 1))
                                         .subspan(skipped, field.row_bytes())));
    }
    for (const std::int64_t value : {least - 1, largest + 1}) {
      EXPECT_EQ(MessageFor(ExtraInt64s("t", {value}), field),
                "Example key 't' has " + std::to_string(value) +
                    ", which is no " + name);
    }
  };
  expect(ItemType::kInt32, -(1LL << 31), (1LL << 31) - 1);
  expect(ItemType::kInt16, -32768, 32767);
  expect(ItemType::kInt8, -128, 127);
  expect(ItemType::kUint16, 0, 65535);
  expect(ItemType::kUint8, 0, 255);
  expect(ItemType::kBool, 0, 1);
}

TEST(FixedFieldsTest, RawBytesAreItemsOfAnyType) {
  const FieldSpec field = {.key = "t",
                           .kind = FeatureKind::kBytes,
                           .shape = Shape{2},
                           .type = ItemType::kFloat64,
                           .is_raw = true};
  const std::string good =
      ExtraBytes("t", {LittleEndianBytes(std::vector<double>{0.5, -3})});
  EXPECT_THAT(Read<double>(good, field).items, ElementsAre(0.5, -3));
  EXPECT_EQ(MessageFor(ExtraBytes("t", {"12345678"}), field),
            "Example key 't' has 8 bytes, expected 16");
  EXPECT_EQ(MessageFor(ExtraBytes("t", {}), field),
            "Example key 't' has 0 values, expected 1 with the bytes of all "
            "items");
  EXPECT_EQ(MessageFor("", field), "Example key 't' is missing (give absent)");
  EXPECT_EQ(MessageFor(ExtraInt64s("t", {1}), field),
            "Example key 't' holds int64, expected bytes");
}

TEST(FixedFieldsTest, RawBoolsAreZeroOrOne) {
  const FieldSpec field = {.key = "t",
                           .kind = FeatureKind::kBytes,
                           .shape = Shape{3},
                           .type = ItemType::kBool,
                           .is_raw = true};
  const std::string good("\0\1\0", 3);
  EXPECT_THAT(Read<std::uint8_t>(ExtraBytes("t", {good}), field).items,
              ElementsAre(0, 1, 0));
  for (const int byte : {2, 255}) {
    std::string bad = good;
    bad.back() = static_cast<char>(byte);
    EXPECT_EQ(MessageOf<DataError>([&] {
                (void)Read<std::uint8_t>(ExtraBytes("t", {bad}), field);
              }),
              "Example key 't' has the byte " + std::to_string(byte) +
                  ", which is no bool");
  }
}

TEST(FixedFieldsTest, ErrorsSayWhatToGive) {
  const FieldSpec field = {.key = "input_ids", .shape = Shape{2}};
  EXPECT_EQ(MessageFor(ExtraInt64s("input_ids", {1, 2, 3}), field),
            "Example key 'input_ids' has 3 values, expected 2 (give pad to cut "
            "them)");
  EXPECT_EQ(MessageFor(ExtraInt64s("input_ids", {1}), field),
            "Example key 'input_ids' has 1 values, expected 2 (give pad to "
            "fill them up)");
  EXPECT_EQ(MessageFor("", field),
            "Example key 'input_ids' is missing (give absent)");
  FieldSpec with_absent = field;
  with_absent.absent = BytesOf<std::int64_t>({5, 6});
  EXPECT_EQ(MessageFor(ExtraInt64s("input_ids", {}), with_absent),
            "Example key 'input_ids' has 0 values, expected 2 (absent is for "
            "no list, pad for an empty one)");
}

TEST(FixedFieldsTest, BytesOfOneValueAreARaggedColumn) {
  FieldSpec field = {.key = "t", .kind = FeatureKind::kBytes, .shape = Shape{}};
  EXPECT_FALSE(field.IsFixed());
  const auto read = [&](const std::string& example) {
    const std::vector<FieldSpec> fields = {field};
    CheckFields(fields);
    FieldColumn column;
    const FieldPlace place = {.column = &column};
    (void)FieldReader(fields, 100)
        .Read(std::as_bytes(std::span(example)), {&place, 1});
    return column;
  };
  EXPECT_EQ(read(ExtraBytes("t", {"abc"})).bytes, "abc");
  EXPECT_THROW((void)read(ExtraBytes("t", {"a", "b"})), DataError);
  EXPECT_THROW((void)read(""), DataError);
  field.absent = "none";
  const FieldColumn absent = read("");
  EXPECT_EQ(absent.bytes, "none");
  EXPECT_THAT(absent.offsets, ElementsAre(0, 1));
}

TEST(FixedFieldsTest, SpecificationsAreCheckedBeforeAnythingIsAllocated) {
  const auto expect = [](const FieldSpec& field, const std::string& what) {
    EXPECT_EQ(MessageOf<UsageError>([&] { CheckFields({{field}}); }),
              "fields: 't': " + what);
  };
  const std::string size = "a shape must have 1 to 2^28 values";
  expect({.key = "t", .shape = Shape{0}}, size);
  expect({.key = "t", .shape = Shape{-1}}, size);
  expect({.key = "t", .shape = Shape{1 << 20, 1 << 20, 1 << 30}}, size);
  expect({.key = "t", .shape = Shape{(std::int64_t{1} << 28) + 1}}, size);
  CheckFields({{{.key = "t", .shape = Shape{std::int64_t{1} << 28}}}});
  expect({.key = "t", .pad = "12345678"}, "pad and absent need a shape");
  expect({.key = "t", .is_raw = true}, "raw values need a shape");
  expect({.key = "t", .kind = FeatureKind::kBytes, .shape = Shape{2}},
         "bytes have no shape but ()");
  expect(
      {.key = "t", .kind = FeatureKind::kBytes, .shape = Shape{}, .pad = "x"},
      "bytes have no pad");
  expect({.key = "t", .shape = Shape{2}, .type = ItemType::kFloat32},
         "float32 is read from raw bytes only, or from another kind");
  expect({.key = "t",
          .shape = Shape{2},
          .type = ItemType::kInt32,
          .pad = "12345678"},
         "pad must be one int32");
  expect({.key = "t", .shape = Shape{2}, .absent = "12345678"},
         "absent must have 2 of int64");
  const FieldSpec twice = {.key = "t"};
  EXPECT_EQ(MessageOf<UsageError>([&] {
              CheckFields({{twice, twice}});
            }),
            "fields: 't': the key is given twice");
}

}  // namespace infeed::fixed_fields_test
