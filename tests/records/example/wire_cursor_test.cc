#include "records/example/wire_cursor.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include "base/error.h"
#include "base/random.h"
#include "records/example/reader.h"
#include "tests/support/bytes.h"
#include "tests/support/example.pb.h"
#include "tests/support/extra_feature.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed::wire_cursor_test {

using ::google::protobuf::internal::WireFormatLite;
using ::google::protobuf::io::CodedInputStream;
using Tags = std::optional<std::vector<std::uint32_t>>;

// The tags of a message's fields, which are skipped; none if it is no message.
Tags OurTags(const std::string& message) {
  std::vector<std::uint32_t> tags;
  try {
    ForEachWireField(WireCursor(AsBytes(message), "no message"),
                     [&](std::uint32_t tag, WireCursor& /*cursor*/) {
                       tags.push_back(tag);
                       return false;
                     });
  } catch (const DataError&) {
    return std::nullopt;
  }
  return tags;
}

// The same by protobuf's own code.
Tags TheirTags(const std::string& message) {
  std::vector<std::uint32_t> tags;
  CodedInputStream stream(reinterpret_cast<const std::uint8_t*>(message.data()),
                          static_cast<int>(message.size()));
  while (const std::uint32_t tag = stream.ReadTag()) {
    tags.push_back(tag);
    if (!WireFormatLite::SkipField(&stream, tag)) {
      return std::nullopt;
    }
  }
  return stream.ConsumedEntireMessage() ? Tags(tags) : std::nullopt;
}

std::string Tag(std::uint32_t field, WireType type) {
  return WireNumber(WireTag(field, type));
}

std::string Group(std::uint32_t field, const std::string& within) {
  return Tag(field, WireType::kGroup) + within +
         Tag(field, WireType::kGroupEnd);
}

std::string Groups(int depth) {
  std::string groups;
  for (int i = 0; i < depth; ++i) {
    groups = Group(7, groups);
  }
  return groups;
}

// A field of each type.
std::string FieldOfEachType(std::uint32_t field) {
  const std::string fields = Tag(field, WireType::kVarint) +
                             WireNumber(~std::uint64_t{0}) +
                             Tag(field, WireType::kFixed64) + "12345678" +
                             Tag(field, WireType::kBytes) + WireNumber(3) +
                             "abc" + Tag(field, WireType::kFixed32) + "1234";
  return fields + Group(field, fields + Group(1, ""));
}

std::string RandomFields(SampleRandom& draws, int depth) {
  std::string fields;
  const std::uint32_t count = draws.Below(4);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t field = 1 + draws.Below(40);
    const auto type = static_cast<WireType>(draws.Below(depth < 4 ? 4 : 3));
    if (type == WireType::kGroup) {
      fields += Group(field, RandomFields(draws, depth + 1));
      continue;
    }
    fields += Tag(field, type);
    if (type == WireType::kVarint) {
      fields += WireNumber(draws.Word());
    } else if (type == WireType::kBytes) {
      const std::uint32_t size = draws.Below(6);
      fields += WireNumber(size) + std::string(size, 'a');
    } else {
      fields += std::string(8, 'b');
    }
  }
  return fields;
}

TEST(WireCursorTest, SkipsWhatProtobufSkips) {
  for (const std::uint32_t field : {1U, 15U, 16U, 99U, (1U << 29) - 1}) {
    const std::string message = FieldOfEachType(field);
    EXPECT_THAT(OurTags(message), Optional(SizeIs(5)));
    EXPECT_EQ(OurTags(message), TheirTags(message));
    for (std::size_t size = 0; size < message.size(); ++size) {
      const std::string part = message.substr(0, size);
      EXPECT_EQ(OurTags(part), TheirTags(part)) << size;
    }
  }
  EXPECT_EQ(OurTags(""), Tags(std::vector<std::uint32_t>()));
}

TEST(WireCursorTest, RefusesWhatProtobufRefuses) {
  const auto refuses = [](const std::string& message) {
    EXPECT_EQ(TheirTags(message), std::nullopt);
    return !OurTags(message).has_value();
  };
  for (std::uint32_t type = 0; type < 8; ++type) {
    const std::string value = type == 2 ? std::string(1, '\0') : "12345678";
    EXPECT_TRUE(refuses(WireNumber(type) + value)) << "field 0, type " << type;
  }
  EXPECT_TRUE(refuses(WireNumber(1 << 3 | 6)));
  EXPECT_TRUE(refuses(WireNumber(1 << 3 | 7)));
  EXPECT_TRUE(refuses(Tag(1, WireType::kGroupEnd)));
  EXPECT_TRUE(refuses(Tag(1, WireType::kGroup)));
  EXPECT_TRUE(refuses(Tag(1, WireType::kGroup) + Tag(2, WireType::kGroupEnd)));
  EXPECT_TRUE(refuses(Group(1, Group(0, ""))));
  EXPECT_TRUE(refuses(Group(1, WireNumber(2 << 3 | 6))));
  EXPECT_TRUE(refuses(Tag(1, WireType::kVarint) + std::string(11, '\x80')));
  EXPECT_TRUE(refuses(Tag(1, WireType::kBytes) + WireNumber(1)));
}

TEST(WireCursorTest, GroupsAreAsDeepAsInProtobuf) {
  for (const int depth : {1, 99, 100, 101, 1000}) {
    const std::string groups = Groups(depth) + Groups(1);
    EXPECT_EQ(OurTags(groups), TheirTags(groups)) << depth;
    EXPECT_EQ(OurTags(groups).has_value(), depth <= 100);
  }
}

TEST(WireCursorTest, RandomFieldsEndWhereProtobufEndsThem) {
  SampleRandom draws({.seed = 7}, RandomStream::kMadeData);
  int messages = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string fields = RandomFields(draws, 0);
    if (i % 2 == 1 && !fields.empty()) {
      const auto size = static_cast<std::uint32_t>(fields.size());
      fields[draws.Below(size)] = static_cast<char>(draws.Below(256));
    }
    const Tags tags = OurTags(fields);
    EXPECT_EQ(tags, TheirTags(fields)) << i;
    messages += tags ? 1 : 0;
  }
  EXPECT_GT(messages, 10000);
  EXPECT_LT(messages, 20000);
}

TEST(WireCursorTest, AnErrorHasTheGivenText) {
  const auto refusal = [](std::string_view bytes, auto take) {
    return MessageOf<DataError>([&] {
      WireCursor cursor(AsBytes(bytes), "damaged");
      take(cursor);
    });
  };
  const auto take_tag = [](WireCursor& cursor) { (void)cursor.TakeTag(); };
  EXPECT_EQ(refusal("", take_tag), "damaged");
  EXPECT_EQ(refusal("\x01", take_tag), "damaged");
  EXPECT_EQ(refusal("\x08", take_tag), "");
  EXPECT_EQ(refusal("1234567",
                    [](WireCursor& cursor) {
                      (void)cursor.TakeFixed<std::uint64_t>();
                    }),
            "damaged");
  EXPECT_EQ(refusal("\x02\x05z",
                    [](WireCursor& cursor) {
                      (void)cursor.TakeMessage().TakeMessage();
                    }),
            "damaged");
}

// Unknown fields of each type before and behind what is known.
TEST(ReadValuesTest, UnknownFieldsAreSkippedAtEachLevel) {
  const auto among = [](const std::string& known) {
    return FieldOfEachType(9) + known + FieldOfEachType(20);
  };
  const std::string list = among(WireText(1, "a") + WireText(1, "b"));
  const std::string feature = among(WireText(1, list));
  const std::string entry = among(WireText(1, "key") + WireText(2, feature));
  const std::string example = among(WireText(1, among(WireText(1, entry))));
  Example theirs;
  ASSERT_TRUE(theirs.ParseFromString(example));
  ASSERT_EQ(theirs.features().feature().at("key").bytes_list().value_size(), 2);
  const std::vector<ExampleFeature> ours = ListFeatures(AsBytes(example));
  ASSERT_EQ(ours.size(), 1U);
  EXPECT_EQ(ours[0].key, "key");
  EXPECT_EQ(std::get<std::vector<std::string_view>>(ours[0].values),
            (std::vector<std::string_view>{"a", "b"}));
}

}  // namespace infeed::wire_cursor_test
