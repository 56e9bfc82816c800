#include "records/archives/tar_example.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "records/example/builder.h"
#include "records/example/example_walk.h"
#include "records/example/imagenet_example.h"
#include "tests/support/bytes.h"
#include "tests/support/example.pb.h"
#include "tests/support/matchers.h"
#include "tests/support/tar_file.h"
#include "tests/support/throws.h"

namespace infeed::tar_example_test {

std::string Build(const TarFile& tar, std::string_view image_key = kImageKey) {
  std::vector<std::byte> buffer;
  const auto example =
      BuildTarExample(ParseTarSample(AsBytes(tar.text())), buffer, image_key);
  EXPECT_LE(std::ssize(example),
            std::ssize(tar.text()) + kTarExampleExtraBytes);
  return AsText(example);
}

std::string Fault(const TarFile& tar) {
  return MessageOf<DataError>([&] { (void)Build(tar); });
}

std::vector<std::string> Keys(std::string_view example) {
  std::vector<std::string> keys;
  ForEachEntry(AsBytes(example),
               [&](std::string_view key, std::span<const std::byte> /*entry*/) {
                 keys.emplace_back(key);
               });
  return keys;
}

TarFile Sample() {
  return TarFile()
      .Add("train/00.txt", "a text")
      .Add("train/00.JPG", "the image")
      .Add("train/00.cls", "12\n")
      .Add("train/00.seg.png", "another image");
}

TEST(TarExampleTest, HasAllMembersByTheirEndings) {
  const std::string example = Build(Sample());
  const ImagenetExampleView view = ParseImagenetExample(AsBytes(example));
  EXPECT_EQ(AsText(view.encoded), "the image");
  EXPECT_EQ(view.label, 12);
  EXPECT_EQ(view.filename, "00.JPG");
  EXPECT_NO_THROW(RequireImageKey(AsBytes(example), kImageKey));
  EXPECT_THAT(Keys(example),
              ElementsAre("__key__", "image/class/label", "image/filename",
                          "txt", "cls", "seg.png", "image/encoded"));
  Example parsed;
  ASSERT_TRUE(parsed.ParseFromString(example));
  const auto& features = parsed.features().feature();
  EXPECT_EQ(features.at("__key__").bytes_list().value(0), "train/00");
  EXPECT_EQ(features.at("txt").bytes_list().value(0), "a text");
  EXPECT_EQ(features.at("cls").bytes_list().value(0), "12\n");
  EXPECT_EQ(features.at("seg.png").bytes_list().value(0), "another image");
  EXPECT_EQ(features.at("image/class/label").int64_list().value(0), 12);
}

// This project's other builder makes the same features.
TEST(TarExampleTest, IsTheExampleOfItsFeatures) {
  const std::string example =
      Build(TarFile().Add("a.json", R"({"label": -5})").Add("a.png", "pixels"));
  const std::vector<ExampleFeature> features = ListFeatures(AsBytes(example));
  const std::string sorted = BuildExample(features);
  EXPECT_EQ(sorted.size(), example.size());
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(features[1].values),
            std::vector<std::int64_t>{-5});
}

TEST(TarExampleTest, HasOnlyALabelAndAnImageThatAreClear) {
  for (const char* json : {"{}", R"({"label": "a cat"})"}) {
    const std::string example =
        Build(TarFile().Add("a.jpg", "1").Add("a.json", json).Add("a.txt", ""));
    EXPECT_THAT(Keys(example), ElementsAre("__key__", "image/filename", "json",
                                           "txt", "image/encoded"));
    EXPECT_EQ(ParseImagenetExample(AsBytes(example)).label, -1);
  }
  EXPECT_THAT(Keys(Build(TarFile().Add("a.png", "1").Add("a.jpg", "2"))),
              UnorderedElementsAre("__key__", "jpg", "png"));
}

TEST(TarExampleTest, TakesTheImageOfTheKey) {
  const TarFile tar = TarFile()
                          .Add("a.png", "first")
                          .Add("a.JPG", "second")
                          .Add("a.seg.png", "third");
  const auto image = [&](const std::string& key) {
    const std::string example = Build(tar, key);
    const ImagenetExampleView view =
        ParseImagenetExample(AsBytes(example), LabelList::kOne, {.image = key});
    return AsText(view.encoded) + " of " + std::string(view.filename);
  };
  EXPECT_EQ(image("png"), "first of a.png");
  EXPECT_EQ(image("jpg"), "second of a.JPG");
  EXPECT_EQ(image(".Seg.png"), "third of a.seg.png");
  EXPECT_EQ(MessageOf<DataError>([&] { (void)Build(tar, "webp"); }),
            "sample a has no webp (its members: a.png, a.JPG, a.seg.png)");
}

TEST(TarExampleTest, WithoutAnImageKeyHasTheIndexedLabel) {
  const std::string text =
      TarFile().Add("a.txt", "text").Add("a.cls", "cat").text();
  const auto example = [&](std::int64_t label) {
    std::vector<std::byte> buffer;
    return AsText(
        BuildTarExample(ParseTarSample(AsBytes(text)), buffer, "", label));
  };
  EXPECT_THAT(Keys(example(kNoLabel)), ElementsAre("__key__", "cls", "txt"));
  EXPECT_THAT(Keys(example(7)),
              ElementsAre("__key__", "cls", "image/class/label", "txt"));
  EXPECT_EQ(ParseImagenetExample(AsBytes(example(7))).label, 7);
}

TEST(TarExampleTest, HoldsPartsOfAnyLength) {
  for (const std::size_t bytes : {0U, 100U, 127U, 128U, 16384U, 3U << 20}) {
    const std::string image(bytes, 'i');
    const std::string example =
        Build(TarFile().Add("a.jpg", image).Add("a.txt", image));
    EXPECT_EQ(AsText(ParseImagenetExample(AsBytes(example)).encoded), image);
    Example parsed;
    EXPECT_TRUE(parsed.ParseFromString(example));
  }
}

TEST(TarExampleTest, UsesItsBufferAgain) {
  std::vector<std::byte> buffer(100'000);
  const std::byte* const data = buffer.data();
  const std::string text = Sample().text();
  const auto example = BuildTarExample(ParseTarSample(AsBytes(text)), buffer);
  EXPECT_EQ(example.data(), data);
  EXPECT_EQ(buffer.size(), 100'000U);
  EXPECT_EQ(AsText(example), Build(Sample()));
}

TEST(TarExampleTest, OfAnUnusableSampleIsBadData) {
  EXPECT_EQ(Fault(TarFile().Add("f/a.json", "{}").Add("f/a.cls", "1")),
            "sample f/a has no image (its members: a.json, a.cls)");
  EXPECT_EQ(Fault(TarFile().Add("f/a.seg.png", "1")),
            "sample f/a has no image (its members: a.seg.png)");
  EXPECT_EQ(Fault(TarFile().Add("a.jpg", "1").Add("a.cls", "cat")),
            "the label in tar member a.cls is not a whole number");
  EXPECT_EQ(Fault(TarFile().Add("a.jpg", "1").Add("a.\xFF", "2")),
            "the ending of tar member a.? is not UTF-8");
}

// A slot of a batch is as long as the longest extent and a little more.
TEST(TarExampleTest, LongNamesFitOrAreBadData) {
  const std::string stem(1020, 'n');
  for (const std::string& name : {stem + ".jpg", stem + "/" + stem + ".jpg"}) {
    EXPECT_FALSE(Build(TarFile().Add("L", name, 'L').Add("", "image")).empty());
  }
  EXPECT_THAT(Fault(TarFile().Add("L", stem + "n.jpg", 'L').Add("", "image")),
              HasSubstr("... is longer than 1024 bytes"));
}

}  // namespace infeed::tar_example_test
