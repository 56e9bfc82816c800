#include "records/store/key_guess.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/example/builder.h"
#include "records/store/record_index.h"
#include "tests/support/hex.h"
#include "tests/support/matchers.h"
#include "tests/support/record_file.h"
#include "tests/support/tar_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"
#include "tests/support/throws.h"

namespace infeed::key_guess_test {

using Bytes = std::vector<std::string_view>;
using Numbers = std::vector<std::int64_t>;

const std::string& Jpeg() {
  static const std::string jpeg = TestJpeg();
  return jpeg;
}

const std::string kPng =
    std::string("\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\0\4\0\0\0\5", 24);

using Record = std::vector<ExampleFeature>;

RecordKeys KeysIn(const std::vector<Record>& records,
                  const RecordKeys& given = {}) {
  const TemporaryFolder folder;
  RecordFile file;
  file.Add("no Example \xff");
  for (const Record& record : records) {
    file.Add(BuildExample(record));
  }
  return FindKeys(RecordIndex({file.Write(folder / "a.tfrecord")}), given);
}

RecordKeys KeysIn(const Record& record, const RecordKeys& given = {}) {
  return KeysIn(std::vector<Record>{record}, given);
}

// The keys of a tar with one sample, whose members are images or "1".
RecordKeys KeysInTar(const std::vector<std::string>& endings,
                     const RecordKeys& given = {}) {
  const TemporaryFolder folder;
  TarFile tar;
  for (const std::string& ending : endings) {
    tar.Add("1." + ending, ending.ends_with("g") ? Jpeg() : "1");
  }
  WriteFileAtomically(folder / "a.tar", tar.text());
  return FindKeys(RecordIndex({folder / "a.tar"}), given);
}

TEST(KeyGuess, FindsTheImageAndTheLabel) {
  struct Case {
    Record record;
    RecordKeys keys;
    RecordKeys given = {};
  };
  for (const auto& [record, keys, given] :
       {// TensorFlow Datasets.
        Case{{{"file_name", Bytes{"n01.JPEG"}},
              {"image", Bytes{Jpeg()}},
              {"segmentation_mask", Bytes{kPng}},
              {"target", Numbers{3}},
              {"label", Numbers{3}}},
             {"image", "label"}},
        // The one feature that is an image.
        Case{{{"jpeg", Bytes{Jpeg()}},
              {"class", Numbers{3}},
              {"name", Bytes{"x"}}},
             {"jpeg", "class"}},
        // Labels that are no number.
        Case{{{"image", Bytes{Jpeg()}}, {"label", Bytes{"cat"}}},
             {"image", "label"}},
        Case{{{"image/encoded", Bytes{Jpeg()}}, {"class", Numbers{0, 1, 0}}},
             {"image/encoded", "class"}},
        Case{{{"image/encoded", Bytes{Jpeg()}},
              {"image/object/class/label", Numbers{3}}},
             {"image/encoded", "image/object/class/label"}},
        // What is there or given stays.
        Case{{{"image/class/label", Numbers{1}},
              {"image/encoded", Bytes{Jpeg()}},
              {"image", Bytes{Jpeg()}},
              {"label", Numbers{3}}},
             RecordKeys()},
        Case{{{"image", Bytes{Jpeg()}}, {"label", Numbers{3}}},
             {"photo", "class"},
             {"photo", "class"}}}) {
    EXPECT_EQ(KeysIn(record, given), keys) << keys.image << " " << keys.label;
  }
}

// A text may begin like an image, and a record's image be damaged.
TEST(KeyGuess, DecodesHeadersOfSeveralRecords) {
  EXPECT_EQ(KeysIn({{"caption", Bytes{"BMW X5, in a car park"}},
                    {"photo", Bytes{Jpeg()}},
                    {"label", Numbers{3}}}),
            (RecordKeys{"photo", "label"}));
  const auto record = [](std::string_view photo) {
    return Record{{"photo", Bytes{photo}}, {"label", Numbers{3}}};
  };
  EXPECT_EQ(KeysIn({record("damaged"), record(Jpeg()), record(kPng)}),
            (RecordKeys{"photo", "label"}));
}

TEST(KeyGuess, RefusesTwoThatFit) {
  const Record two_images = {
      {"mask", Bytes{kPng}}, {"photo", Bytes{Jpeg()}}, {"label", Numbers{3}}};
  EXPECT_THAT(MessageOf<UsageError>([&] { (void)KeysIn(two_images); }),
              AllOf(HasSubstr("a.tfrecord: mask and photo"),
                    HasSubstr("give image_key=mask")));
  EXPECT_EQ(KeysIn(two_images, {.image = "photo"}),
            (RecordKeys{"photo", "label"}));
  // A mask in some records.
  EXPECT_THROW((void)KeysIn({{{"photo", Bytes{Jpeg()}}, {"label", Numbers{1}}},
                             two_images}),
               UsageError);

  const Record two_labels = {
      {"image", Bytes{Jpeg()}}, {"class", Numbers{1}}, {"target", Numbers{3}}};
  EXPECT_THAT(
      MessageOf<UsageError>([&] { (void)KeysIn(two_labels); }),
      AllOf(HasSubstr("class and target"), HasSubstr("give label_key=class")));
  EXPECT_EQ(KeysIn(two_labels, {.label = "target"}),
            (RecordKeys{"image", "target"}));
}

TEST(KeyGuess, LeavesTheStandardKeysWhereNothingFits) {
  EXPECT_EQ(KeysIn({{"image", Bytes{"text"}}, {"name", Numbers{3, 4}}}),
            RecordKeys());
  const TemporaryFolder folder;
  EXPECT_EQ(FindKeys(RecordIndex({RecordFile().Write(folder / "empty")})),
            RecordKeys());
  EXPECT_EQ(FindKeys(RecordIndex::OfImages({{.path = folder / "gone.jpg"}}),
                     {"photo", "class"}),
            RecordKeys());
}

// A label that nobody asked for is no error.
TEST(KeyGuess, NeedsNoLabelWithoutAnImage) {
  const Bytes text = {"text"};
  EXPECT_EQ(KeysIn({{"text", text}, {"label", Numbers{1}}}),
            (RecordKeys{"image/encoded", "label"}));
  EXPECT_EQ(
      KeysIn({{"text", text}, {"class", Numbers{1}}, {"label", Numbers{1}}}),
      RecordKeys());
  EXPECT_EQ(KeysIn({{"text", text}, {"target", text}}), RecordKeys());
  EXPECT_EQ(KeysIn({{"label", Numbers{1}}, {"image/class/label", Numbers{1}}}),
            RecordKeys());
}

// Numbers to predict are no class.
TEST(KeyGuess, AFloatIsNotTheLabel) {
  const Record age = {{"image/encoded", Bytes{Jpeg()}},
                      {"target", std::vector<float>{20.5}}};
  EXPECT_EQ(KeysIn(age), RecordKeys());
  const TemporaryFolder folder;
  const RecordIndex index(
      {RecordFile().Add(BuildExample(age)).Write(folder / "a")});
  EXPECT_FALSE(MayHaveLabels(index));
  Record both = age;
  both.push_back({"label", Numbers{3}});
  EXPECT_EQ(KeysIn(both).label, "label");
}

TEST(KeyGuess, AFieldIsNotTheLabel) {
  const TemporaryFolder folder;
  const Record record = {{"image/encoded", Bytes{Jpeg()}},
                         {kLabelKey, Numbers{1, 2}},
                         {"class", Numbers{4}},
                         {"target", Numbers{3}}};
  const RecordIndex index(
      {RecordFile().Add(BuildExample(record)).Write(folder / "a")});
  const std::string standard(kLabelKey);
  const std::vector<std::string> two = {standard, "target"};
  EXPECT_EQ(FindKeys(index, {}, two).label, "class");
  EXPECT_TRUE(MayHaveLabels(index, two));
  const std::vector<std::string> all = {standard, "target", "class"};
  EXPECT_EQ(FindKeys(index, {}, all), RecordKeys());
  EXPECT_FALSE(MayHaveLabels(index, all));
}

TEST(KeyGuess, FindsTheImageOfATar) {
  EXPECT_EQ(KeysInTar({"jpg", "cls", "seg.png"}), RecordKeys());
  EXPECT_THAT(
      MessageOf<UsageError>([] {
        (void)KeysInTar({"jpg", "png", "cls"});
      }),
      AllOf(HasSubstr("a.tar: jpg and png"), HasSubstr("image_key=jpg")));
  EXPECT_EQ(KeysInTar({"jpg", "png", "cls"}, {.image = "png"}).image, "png");
  EXPECT_THAT(MessageOf<UsageError>([] {
                (void)KeysInTar({"jpg", "cls"}, {.label = "txt"});
              }),
              AllOf(HasSubstr("label_key=txt: "),
                    HasSubstr("give label_key=image/class/label")));
}

TEST(KeyGuess, AnEmptyLabelIsNotWanted) {
  const RecordKeys given = {.label = ""};
  EXPECT_EQ(KeysInTar({"jpg", "cls"}, given), given);
  // class and target may both be the label.
  EXPECT_EQ(KeysIn({{"photo", Bytes{Jpeg()}},
                    {"class", Numbers{1}},
                    {"target", Numbers{3}}},
                   given),
            (RecordKeys{"photo", ""}));
}

std::vector<FieldSpec> Wanted(const std::vector<std::string>& keys) {
  std::vector<FieldSpec> fields;
  for (const std::string& key : keys) {
    fields.push_back({.key = key, .kind = FeatureKind::kInt64});
  }
  return fields;
}

TEST(KeyGuess, RequiresFeaturesOfSomeRecord) {
  const TemporaryFolder folder;
  RecordFile file;
  for (int i = 0; i < 20; ++i) {
    file.Add(BuildExample(Record{{"a", Numbers{1}}, {"b", Numbers{1}}}));
  }
  file.Add(BuildExample(Record{{"rare", Numbers{1}}}));
  const RecordIndex index({file.Write(folder / "a")});
  RequireFeatures(index, "", {});
  RequireFeatures(index, "", Wanted({"a", "rare"}));
  EXPECT_EQ(MessageOf<UsageError>([&] {
              RequireFeatures(index, "", Wanted({"a", "c"}));
            }),
            "none of 21 records has \"c\"; they have a, b, rare");
  RequireFeatures(RecordIndex({RecordFile().Add("?").Write(folder / "b")}), "",
                  Wanted({"c"}));  // Nothing can be read.
}

TEST(KeyGuess, RequiresTheKindOfSomeRecord) {
  const TemporaryFolder folder;
  const RecordIndex mixed(
      {RecordFile()
           .Add(BuildExample(Record{{"a", Bytes{"1"}}, {"b", Bytes{"1"}}}))
           .Add(BuildExample(Record{{"a", Numbers{1}}, {"b", Bytes{"1"}}}))
           .Add(BuildExample(Record{{"empty", {}}}))
           .Write(folder / "a")});
  RequireFeatures(mixed, "", Wanted({"a", "empty"}));
  EXPECT_EQ(MessageOf<UsageError>([&] {
              RequireFeatures(mixed, "", Wanted({"a", "b"}));
            }),
            "none of 3 records has \"b\" as int64; it holds bytes");
}

TEST(KeyGuess, AMemberOfATarHoldsNoBoxes) {
  const TemporaryFolder folder;
  WriteFileAtomically(
      folder / "a.tar",
      TarFile().Add("1.jpg", Jpeg()).Add("1.json", "{\"boxes\": []}").text());
  const RecordIndex index({folder / "a.tar"});
  const std::vector<FieldSpec> json = {
      {.key = "json", .kind = FeatureKind::kFloat}};
  EXPECT_EQ(MessageOf<UsageError>(
                [&] { RequireFeatures(index, std::string(kImageKey), json); }),
            "none of 1 records has \"json\" as float; it holds bytes");
}

TEST(KeyGuess, SaysOfHowManyRecordsAFeatureWasSearched) {
  const TemporaryFolder folder;
  RecordFile file;
  for (int i = 0; i < 1001; ++i) {
    file.Add(BuildExample(Record{{"a", Numbers{1}}}));
  }
  const RecordIndex index({file.Write(folder / "a")});
  EXPECT_EQ(
      MessageOf<UsageError>([&] { RequireFeatures(index, "", Wanted({"c"})); }),
      "none of 1000 records (those searched, of 1001) has \"c\"; they "
      "have a");
}

TEST(KeyGuess, FeatureListsOfSequenceExamplesAreNamed) {
  const TemporaryFolder folder;
  // The context has len, or nothing; the lists have tok.
  const std::string context = "0a0e0a0c0a036c656e12051a030a0102";
  const std::string lists =
      "12180a160a03746f6b120f0a061a040a0201020a051a030a0103";
  for (const bool has_context : {true, false}) {
    const RecordIndex index(
        {RecordFile()
             .Add(FromHex((has_context ? context : "") + lists))
             .Write(folder / (has_context ? "a" : "b"))});
    EXPECT_EQ(MessageOf<UsageError>(
                  [&] { RequireFeatures(index, "", Wanted({"tok"})); }),
              "\"tok\" is in the feature lists of SequenceExamples, "
              "which are not read; their context has " +
                  std::string(has_context ? "len" : "no keys"));
  }
}

TEST(KeyGuess, RequiresImagesOfSomeRecord) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.tfrecord";
  RecordFile texts;
  for (int i = 0; i < 20; ++i) {
    texts.Add(BuildExample(Record{{"ids", Numbers{1}}, {"text", Bytes{"a"}}}));
  }
  const std::string key(kImageKey);
  EXPECT_EQ(MessageOf<UsageError>(
                [&] { RequireImages(RecordIndex({texts.Write(path)}), key); }),
            path +
                ": the records have no images (image/encoded); they have "
                "ids, text");
  texts.Add(BuildExample(Record{{"image", Bytes{Jpeg()}}}));
  const RecordIndex some({texts.Write(path)});
  RequireImages(some, "image");
  EXPECT_THROW(RequireImages(some, "photo"), UsageError);
  RecordFile().Add(BuildExample(Record{{"pic", Bytes{kPng}}})).Write(path);
  RequireImages(RecordIndex({path}), key);
  RequireImages(RecordIndex({RecordFile().Add("?").Write(path)}), key);
}

TEST(KeyGuess, LabelsMayBeInARecordFarBehind) {
  const TemporaryFolder folder;
  const auto may_have = [&](const RecordFile& file) {
    return MayHaveLabels(RecordIndex({file.Write(folder / "a")}));
  };
  const std::string caption = BuildExample(Record{{"txt", Bytes{"a"}}});
  RecordFile file;
  for (int i = 0; i < 20; ++i) {
    file.Add(caption);
  }
  EXPECT_FALSE(may_have(file));
  EXPECT_TRUE(may_have(RecordFile().Add("?")));  // Nothing can be read.
  file.Add(BuildExample(Record{{kLabelKey, Numbers{1}}}));
  EXPECT_TRUE(may_have(file));
  // Reading reports that it is a text.
  EXPECT_TRUE(may_have(RecordFile().Add(caption).Add(
      BuildExample(Record{{"target", Bytes{"a"}}}))));
}

TEST(KeyGuess, LabelsOfTarsMayBeInAnySample) {
  const TemporaryFolder folder;
  const auto may_have = [&](const std::vector<std::string>& members,
                            const std::string& text) {
    TarFile tar;
    for (const std::string& name : members) {
      tar.Add(name, name.ends_with("jpg") ? Jpeg() : text);
    }
    WriteFileAtomically(folder / "a.tar", tar.text());
    return MayHaveLabels(RecordIndex({folder / "a.tar"}));
  };
  std::vector<std::string> members;
  for (char name = 'a'; name < 'u'; ++name) {
    members.push_back(std::string(1, name) + ".jpg");
    members.push_back(std::string(1, name) + ".txt");
  }
  EXPECT_FALSE(may_have(members, "7"));
  members.emplace_back("z.jpg");
  members.emplace_back("z.cls");
  EXPECT_TRUE(may_have(members, "7"));
  EXPECT_TRUE(may_have({"a.jpg", "a.cls"}, "cat"));  // Reading reports it.
}

}  // namespace infeed::key_guess_test
