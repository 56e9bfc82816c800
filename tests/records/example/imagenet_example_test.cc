#include "records/example/imagenet_example.h"

#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "base/error.h"
#include "records/example/example_walk.h"
#include "records/example/reader.h"
#include "tests/support/bytes.h"
#include "tests/support/example_wire.h"
#include "tests/support/hex.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

ImagenetExample Tench() {
  return {.height = 375,
          .width = 500,
          .label = 1,
          .synset = "n01440764",
          .text = "tench",
          .filename = "n01440764_10026.JPEG",
          .encoded = "\xff\xd8\xff"};
}

// The message of ParseImagenetExample().
std::string ReasonFor(std::string_view payload) {
  return MessageOf<DataError>(
      [&] { (void)ParseImagenetExample(AsBytes(payload)); });
}

std::int64_t LabelOf(std::string_view payload) {
  return ParseImagenetExample(AsBytes(payload)).label;
}

TEST(ImagenetExampleTest, ParsesWhatItBuilds) {
  ImagenetExample example = Tench();
  example.seek_index = "places";
  const std::string bytes = BuildImagenetExample(example);
  const ImagenetExampleView view = ParseImagenetExample(AsBytes(bytes));
  EXPECT_EQ(view.height, 375);
  EXPECT_EQ(view.width, 500);
  EXPECT_EQ(view.label, 1);
  EXPECT_EQ(view.synset, "n01440764");
  EXPECT_EQ(view.text, "tench");
  EXPECT_EQ(view.filename, "n01440764_10026.JPEG");
  EXPECT_EQ(view.format, "JPEG");
  EXPECT_EQ(AsText(view.encoded), "\xff\xd8\xff");
  EXPECT_EQ(AsText(view.seek_index), "places");
  // Views point into the payload.
  const auto* encoded = reinterpret_cast<const char*>(view.encoded.data());
  EXPECT_TRUE(bytes.data() < encoded && encoded < bytes.data() + bytes.size());
  example.packed = "pixels";
  example.format = "packed";
  const std::string packed = BuildImagenetExample(example);
  EXPECT_EQ(AsText(ParseImagenetExample(AsBytes(packed)).packed), "pixels");
  EXPECT_TRUE(ParseImagenetExample(AsBytes(packed)).encoded.empty());
  EXPECT_EQ(ParseImagenetExample(AsBytes(packed)).format, "packed");
}

TEST(ImagenetExampleTest, BuildsTheReferencesKeysInAFixedOrder) {
  const std::string bytes = BuildImagenetExample(Tench());
  EXPECT_EQ(bytes, BuildImagenetExample(Tench()));
  std::vector<std::string> keys;
  ForEachEntry(AsBytes(bytes), [&](std::string_view key, auto /*entry*/) {
    keys.emplace_back(key);
  });
  EXPECT_THAT(keys,
              ElementsAre("image/channels", "image/class/label",
                          "image/class/synset", "image/class/text",
                          "image/colorspace", "image/encoded", "image/filename",
                          "image/format", "image/height", "image/width"));
}

TEST(ImagenetExampleTest, ReadsTheReferencesBytes) {
  EXPECT_EQ(LabelOf(FromHex("0a1c0a1a0a11696d6167652f636c6173732f6c6162656c"
                            "12051a030a0101")),
            1);
  const std::string both = FromHex(
      "0a370a1b0a11696d6167652f636c6173732f6c6162656c12061a040a02e807"
      "0a180a0d696d6167652f656e636f64656412070a050a03ffd8ff");
  EXPECT_EQ(LabelOf(both), 1000);
  EXPECT_EQ(AsText(ParseImagenetExample(AsBytes(both)).encoded),
            "\xff\xd8\xff");
}

TEST(ImagenetExampleTest, ReadsPackedAndUnpackedNumbers) {
  const std::string minus_one = FromHex("1a0c0a0affffffffffffffffff01");
  EXPECT_EQ(LabelOf(WireExample({{"image/class/label", minus_one}})), -1);
  EXPECT_EQ(LabelOf(WireExample({{"image/class/label", FromHex("1a020807")}})),
            7);
  const std::string payload =
      WireExample({{"packed", FromHex("120a0a080000003f0000803f")},
                   {"unpacked", FromHex("120a0d0000003f0d0000803f")}});
  for (const ExampleFeature& feature : ListFeatures(AsBytes(payload))) {
    EXPECT_THAT(std::get<std::vector<float>>(feature.values),
                ElementsAre(0.5F, 1.0F))
        << feature.key;
  }
}

TEST(ImagenetExampleTest, AbsentKeysHaveTheirDefaults) {
  for (const std::string& payload :
       {std::string(), WireExample({{"other", FromHex("1a030a0101")}}),
        WireExample({{"image/class/label", ""}, {"image/format", ""}})}) {
    const ImagenetExampleView view = ParseImagenetExample(AsBytes(payload));
    EXPECT_EQ(view.label, -1);
    EXPECT_EQ(view.format, "jpeg");
    EXPECT_TRUE(view.encoded.empty());
  }
}

TEST(ImagenetExampleTest, OfAKeyGivenTwiceTheLastCounts) {
  const std::string bytes_list = FromHex("0a030a0141");
  EXPECT_EQ(
      LabelOf(WireExample({{"image/class/label", bytes_list},
                           {"image/class/label", FromHex("1a030a0109")},
                           {"image/class/label", FromHex("1a030a0105")}})),
      5);
}

TEST(ImagenetExampleTest, SkipsUnknownFieldsOfEveryKind) {
  // Fields 9 as varint, fixed64, bytes, group and fixed32.
  const std::string unknown = FromHex(
      "4805"
      "490102030405060708"
      "4a0141"
      "4b08014c"
      "4d01020304");
  const std::string feature = unknown + FromHex("1a030a0105") + unknown;
  EXPECT_EQ(LabelOf(unknown + WireExample({{"image/class/label", feature}}) +
                    unknown),
            5);
}

TEST(ImagenetExampleTest, NamesAKeyOfAnotherKindOrNumber) {
  for (const auto& [key, feature, reason] :
       {std::tuple("image/class/label", "0a030a0141",
                   "holds bytes, expected int64"),
        {"image/encoded", "1a030a0101", "holds int64, expected bytes"},
        {"image/width", "12060a040000003f", "holds float, expected int64"},
        {"image/class/label", "1a00", "has 0 values, expected 1"},
        {"image/height", "1a040a020102", "has 2 values, expected 1"}}) {
    EXPECT_EQ(ReasonFor(WireExample({{key, FromHex(feature)}})),
              std::string("Example key '") + key + "' " + reason);
  }
}

TEST(ImagenetExampleTest, RefusesWhatIsNotAnExample) {
  const std::string whole = BuildImagenetExample(Tench());
  for (const std::string& payload :
       {std::string("hello, world"), whole.substr(0, whole.size() - 1),
        WireExample({{"image/encoded", FromHex("0a7f")}}),
        // A packed block that ends within a number.
        WireExample({{"image/class/label", FromHex("1a030a0180")}})}) {
    EXPECT_THAT(ReasonFor(payload), HasSubstr("not a tf.train.Example"));
  }
  EXPECT_THAT(MessageOf<DataError>([] {
                (void)ListFeatures(
                    AsBytes(WireExample({{"f", FromHex("12050a03000000")}})));
              }),
              HasSubstr("cannot be parsed"));
  // The size is checked before a byte is looked at.
  const std::span<const std::byte> claimed(
      static_cast<const std::byte*>(nullptr), std::size_t{1} << 31);
  EXPECT_THAT(
      MessageOf<DataError>([&] { (void)ParseImagenetExample(claimed); }),
      HasSubstr("2 GiB"));
}

TEST(ImagenetExampleTest, ListsEveryFeature) {
  const std::string payload = WireExample({{"b", FromHex("1a040a020102")},
                                           {"a", FromHex("0a060a01410a0142")},
                                           {"none", ""}});
  const std::vector<ExampleFeature> features = ListFeatures(AsBytes(payload));
  ASSERT_EQ(features.size(), 3U);
  EXPECT_EQ(features[0].key, "a");
  EXPECT_THAT(std::get<std::vector<std::string_view>>(features[0].values),
              ElementsAre("A", "B"));
  EXPECT_THAT(std::get<std::vector<std::int64_t>>(features[1].values),
              ElementsAre(1, 2));
  EXPECT_TRUE(std::holds_alternative<std::monostate>(features[2].values));
}

TEST(ImagenetExampleTest, LeavesUnreadableFeaturesOutIfTheyAreCounted) {
  const std::string payload = WireExample({{"a", FromHex("0a7f")},
                                           {"b", FromHex("1a040a020102")},
                                           {"c", FromHex("12050a03000000")}});
  int unreadable = 0;
  const std::vector<ExampleFeature> features =
      ListFeatures(AsBytes(payload), &unreadable);
  EXPECT_EQ(unreadable, 2);
  ASSERT_EQ(features.size(), 1U);
  EXPECT_EQ(features[0].key, "b");
}

TEST(ImagenetExampleTest, ReadsImageAndLabelByOtherKeys) {
  const std::string payload =
      WireExample({{"image", FromHex("0a050a03ffd8ff")},
                   {"label", FromHex("1a030a0105")},
                   {"image/height", FromHex("1a030a0107")}});
  const ImagenetExampleView view = ParseImagenetExample(
      AsBytes(payload), LabelList::kOne, {.image = "image", .label = "label"});
  EXPECT_EQ(AsText(view.encoded), "\xff\xd8\xff");
  EXPECT_EQ(view.label, 5);
  EXPECT_EQ(view.height, 7);
  EXPECT_TRUE(ParseImagenetExample(AsBytes(payload)).encoded.empty());
  // A key may be one that has another meaning as well.
  EXPECT_EQ(ParseImagenetExample(AsBytes(payload), LabelList::kOne,
                                 {.label = "image/height"})
                .label,
            7);
}

TEST(ImagenetExampleTest, NamesTheKeysOfARecordWithoutTheImages) {
  const std::string payload =
      WireExample({{"label", ""}, {"image", FromHex("0a050a03ffd8ff")}});
  const auto words = [](const std::string& example) {
    return MessageOf<DataError>(
        [&] { RequireImageKey(AsBytes(example), kImageKey); });
  };
  EXPECT_EQ(words(payload),
            "no image/encoded; it has image, label: give image_key");
  EXPECT_EQ(words(""), "no image/encoded: it has no features");
  RequireImageKey(AsBytes(payload), "image");  // does not throw
  RequireImageKey(AsBytes(WireExample({{"image/encoded", ""}})), kImageKey);
}

TEST(ImagenetExampleTest, ASeekIndexThatIsNotOneValueIsNone) {
  for (const char* feature :
       {"", "1a030a0101", "0a00", "0a060a01410a0142", "12060a040000003f"}) {
    const std::string payload =
        WireExample({{"image/class/label", FromHex("1a030a0105")},
                     {"image/seek_index", FromHex(feature)}});
    EXPECT_TRUE(ParseImagenetExample(AsBytes(payload)).seek_index.empty())
        << feature;
    EXPECT_EQ(LabelOf(payload), 5);
  }
}

}  // namespace
}  // namespace infeed
