#include "tools/convert/converter.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "preprocess/codecs/png_codec.h"
#include "records/bytes/crc32c.h"
#include "records/example/imagenet_example.h"
#include "records/files/shards.h"
#include "records/store/index_data.h"
#include "records/tfrecord/reader.h"
#include "tests/support/files_in.h"
#include "tests/support/image_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"
#include "tools/convert/image_encoder.h"
#include "tools/shards/staged_folder.h"

namespace infeed::converter_test {

constexpr std::int64_t kMaxBytes = 1 << 26;

// A conversion of one raw folder into an output folder of its own.
class Conversion {
 public:
  explicit Conversion(const ImageFolder& raw) : raw_(raw) {}

  ConversionReport Run(const ConverterOptions& options = {},
                       const PlanOptions& plan = {.shards = 3}) {
    return Convert(
        PlanConversion(FindImages(raw_.path()), plan), out_.path(), options,
        [this](const ConversionProgress& progress) { done_ = progress.done; });
  }

  // The message of the error that it ends with.
  template <typename Error>
  std::string Failure(const ConverterOptions& options = {},
                      const PlanOptions& plan = {.shards = 3}) {
    return MessageOf<Error>([&] { (void)Run(options, plan); });
  }

  // The names in the output folder, sorted; side files apart.
  [[nodiscard]] std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& [name, bytes] : Files()) {
      names.push_back(name);
    }
    return names;
  }
  [[nodiscard]] std::map<std::string, std::string> Files() const {
    return FilesIn(out_.path());
  }
  [[nodiscard]] std::string Read(const std::string& name) const {
    return ReadWholeFile(out_ / name, kMaxBytes);
  }

  // "FILE NAME:LABEL" of each record of a split.
  [[nodiscard]] std::vector<std::string> Records(std::string_view split) const {
    std::vector<std::string> records;
    for (const std::string& shard : FindSplit(out_.path(), split)) {
      TfrecordReader reader(shard);
      while (const std::optional<Record> record = reader.Next()) {
        const ImagenetExampleView example =
            ParseImagenetExample(record->payload);
        records.push_back(std::string(example.filename) + ":" +
                          std::to_string(example.label));
      }
    }
    return records;
  }

  [[nodiscard]] const TemporaryFolder& out() const { return out_; }
  [[nodiscard]] std::int64_t done() const { return done_; }

 private:
  const ImageFolder& raw_;
  TemporaryFolder out_;
  std::int64_t done_ = 0;
};

TEST(ConverterTest, WritesShardsLabelsAndDescription) {
  ImageFolder raw;
  raw.JpegsIn("train/cat", 2).JpegsIn("train/dog", 3).JpegsIn("val/cow", 1);
  Conversion conversion(raw);
  (void)conversion.Run();
  EXPECT_THAT(conversion.Names(),
              ElementsAre("dataset.json", "labels.txt", "train-00000-of-00003",
                          "train-00001-of-00003", "train-00002-of-00003",
                          "validation-00000-of-00001"));
  EXPECT_EQ(conversion.Read("labels.txt"), "cat\ncow\ndog\n");
  EXPECT_EQ(conversion.done(), 6);
}

TEST(ConverterTest, ReportsNoProgressWithoutAFunction) {
  ImageFolder raw;
  raw.JpegsIn("cat", 2);
  const ConversionPlan plan = PlanConversion(FindImages(raw.path()), {});
  const TemporaryFolder out;
  EXPECT_EQ(Convert(plan, out.path(), {}, {}).info.splits[0].records, 2);
  EXPECT_EQ(FinishConversion(plan, out.path(), {}, {}).info.splits[0].records,
            2);
}

// Sorted: cat/000, cat/001, dog/000, dog/001, dog/002; Python's order of five
// is 2 1 0 4 3.
TEST(ConverterTest, KeepsThePlansOrderAndCountsLabelsFromOne) {
  ImageFolder raw;
  raw.JpegsIn("cat", 2).JpegsIn("dog", 3);
  Conversion conversion(raw);
  (void)conversion.Run();
  EXPECT_THAT(conversion.Records("train"),
              ElementsAre("000.jpg:2", "001.jpg:1", "000.jpg:1", "002.jpg:2",
                          "001.jpg:2"));
}

TEST(ConverterTest, WritesTheReferencesKeys) {
  ImageFolder raw;
  raw.Jpeg("n1/a.JPEG").File("class_names.txt", "n1 tench\n");
  Conversion conversion(raw);
  (void)conversion.Run();
  TfrecordReader reader(conversion.out() / "train-00000-of-00001");
  const std::optional<Record> record = reader.Next();
  ASSERT_TRUE(record);
  const ImagenetExampleView example = ParseImagenetExample(record->payload);
  EXPECT_EQ(example.label, 1);
  EXPECT_EQ(example.width, 16);
  EXPECT_EQ(example.height, 8);
  EXPECT_EQ(example.format, "JPEG");
  EXPECT_EQ(example.synset, "n1");
  EXPECT_EQ(example.text, "tench");
  EXPECT_EQ(example.filename, "a.JPEG");
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(example.encoded.data()),
                        example.encoded.size()),
            ReadWholeFile(raw / "n1/a.JPEG", kMaxBytes));
}

TEST(ConverterTest, DescribesTheShardsInDatasetJson) {
  ImageFolder raw;
  raw.JpegsIn("a", 4).JpegsIn("b", 3);
  Conversion conversion(raw);
  const ConversionReport report = conversion.Run();
  const std::optional<DatasetInfo> info =
      ReadDatasetInfo(conversion.out().path());
  ASSERT_TRUE(info);
  EXPECT_THAT(info->classes, ElementsAre("a", "b"));
  ASSERT_THAT(info->splits, SizeIs(1));
  EXPECT_EQ(info->splits[0].records, 7);
  ASSERT_THAT(info->splits[0].shards, SizeIs(3));
  const DatasetInfo::Shard& shard = info->splits[0].shards[1];
  const std::string bytes = conversion.Read(shard.name);
  EXPECT_EQ(shard.name, "train-00001-of-00003");
  EXPECT_EQ(shard.records, 2);
  EXPECT_EQ(shard.bytes, static_cast<std::int64_t>(bytes.size()));
  EXPECT_EQ(std::stoul(shard.crc32c, nullptr, 16), Crc32c(AsBytes(bytes)));
  EXPECT_EQ(report.info.splits[0].shards[1].crc32c, shard.crc32c);
}

TEST(ConverterTest, GivesTheSameBytesForAnyNumberOfThreads) {
  ImageFolder raw;
  raw.JpegsIn("a", 20).JpegsIn("b", 20).File(
      "b/p.png", EncodePng(TestPhotograph(9, 9, 1).view()));
  Conversion one(raw);
  (void)one.Run({.threads = 1}, {.shards = 7});
  for (const int threads : {2, 8}) {
    Conversion many(raw);
    (void)many.Run({.threads = threads}, {.shards = 7});
    EXPECT_EQ(one.Files(), many.Files());
  }
}

TEST(ConverterTest, NamesReencodedImages) {
  ImageFolder raw;
  raw.Jpeg("a/1.jpg").File("a/2.jpg",
                           EncodePng(TestPhotograph(9, 9, 1).view()));
  Conversion conversion(raw);
  const ConversionReport report = conversion.Run();
  ASSERT_THAT(report.reencoded, SizeIs(1));
  EXPECT_EQ(report.reencoded[0].path, raw / "a/2.jpg");
  EXPECT_EQ(report.reencoded[0].reason, kLossyPng);
}

TEST(ConverterTest, FailsAtABadImageAndLeavesNoHalfFile) {
  ImageFolder raw;
  raw.JpegsIn("a", 3).File("a/bad.jpg", "no image");
  Conversion conversion(raw);
  EXPECT_THAT(
      conversion.Failure<DataError>({.threads = 1}, {.shards = 1}),
      AllOf(HasSubstr(raw / "a/bad.jpg"), HasSubstr("--on_bad_image skip")));
  EXPECT_THAT(conversion.Names(), IsEmpty());
}

TEST(ConverterTest, SkipsBadImagesWhenAsked) {
  ImageFolder raw;
  raw.JpegsIn("a", 3).File("a/bad.jpg", "no image").File("b/0.jpg", "");
  Conversion conversion(raw);
  const ConversionReport report =
      conversion.Run({.on_bad_image = OnBadImage::kSkip});
  EXPECT_THAT(conversion.Records("train"), SizeIs(3));
  EXPECT_EQ(report.info.splits[0].records, 3);
  ASSERT_THAT(report.skipped, SizeIs(2));
  EXPECT_THAT(report.info.classes, ElementsAre("a", "b"));
  // A shard without its bad image is not finished where none may be bad.
  EXPECT_THAT(conversion.Failure<DataError>(),
              HasSubstr("--on_bad_image skip"));
}

TEST(ConverterTest, FailsWhenNoImageOfASplitIsGood) {
  ImageFolder raw;
  raw.File("a/bad.jpg", "no image");
  Conversion conversion(raw);
  EXPECT_THAT(
      conversion.Failure<DataError>({.on_bad_image = OnBadImage::kSkip}),
      AllOf(HasSubstr("train: all its images are bad"), HasSubstr("bad.jpg")));
}

TEST(ConverterTest, RemovesShardsOfAnotherPlanOnlyWhenAsked) {
  ImageFolder raw;
  raw.JpegsIn("a", 9);
  Conversion conversion(raw);
  (void)conversion.Run();
  const auto before = conversion.Files();
  EXPECT_THAT(conversion.Failure<UsageError>({}, {.shards = 2}),
              AllOf(HasSubstr("3 shards"), HasSubstr("--overwrite")));
  EXPECT_EQ(conversion.Files(), before);
  (void)conversion.Run({.overwrite = true}, {.shards = 2});
  EXPECT_THAT(conversion.Names(),
              ElementsAre("dataset.json", "labels.txt", "train-00000-of-00002",
                          "train-00001-of-00002"));
}

// Files of other inputs, other flags and other programs.
TEST(ConverterTest, ReplacesFilesOfAnotherConversionOnlyWhenAsked) {
  ImageFolder raw;
  raw.JpegsIn("a", 9);
  const PlanOptions plan = {.shards = 3, .source = "a"};
  Conversion conversion(raw);
  (void)conversion.Run({}, plan);
  const auto before = conversion.Files();
  raw.JpegsIn("b", 9);  // The same shards' names for all that follow.
  const ConverterOptions pixels = {
      .image = {.format = ImageForm::kPixels, .image_size = 16}};
  for (const auto& [options, other] :
       {std::pair(ConverterOptions{}, PlanOptions{.shards = 3, .source = "b"}),
        std::pair(ConverterOptions{},
                  PlanOptions{.shards = 3, .seed = 1, .source = "a"}),
        std::pair(pixels, plan)}) {
    EXPECT_THAT(
        conversion.Failure<UsageError>(options, other),
        AllOf(HasSubstr(conversion.out().path() + ": has 5 files of"),
              HasSubstr("such as " + conversion.out() / "train-00000-of-00003"),
              HasSubstr("--overwrite")));
    EXPECT_EQ(conversion.Files(), before);
  }
  // A changed input is the same one.
  EXPECT_EQ(conversion.Run({}, plan).replaced_shards, 3);
  EXPECT_THAT(conversion.Records("train"), SizeIs(18));
  EXPECT_EQ(conversion.Run({}, plan).kept_shards, 3);
  ConverterOptions asked = pixels;
  asked.overwrite = true;
  EXPECT_EQ(conversion.Run(asked, plan).replaced_shards, 3);
  EXPECT_EQ(conversion.Run(pixels, plan).kept_shards, 3);
}

// Of the same names and sizes.
TEST(ConverterTest, ReplacesFilesOfRecordsReshardOnlyWhenAsked) {
  ImageFolder raw;
  raw.JpegsIn("a", 9);
  Conversion conversion(raw);
  (void)conversion.Run();
  {
    StagedFolder staged(conversion.out().path());
    std::string bytes = conversion.Read("train-00001-of-00003");
    bytes.back() ^= 1;
    WriteFileAtomically(staged.PathFor("train-00001-of-00003"), bytes);
    staged.Commit({conversion.out() / "train-00001-of-00003"});
  }
  const auto before = conversion.Files();
  EXPECT_THAT(
      conversion.Failure<UsageError>(),
      AllOf(HasSubstr("3 files of"),
            HasSubstr("such as " + conversion.out() / "train-00001-of-00003")));
  EXPECT_EQ(conversion.Files(), before);
}

TEST(ConverterTest, ReplacesFilesThatNoConversionMadeOnlyWhenAsked) {
  for (const std::string name :
       {"train-00001-of-00003", "labels.txt", "dataset.json"}) {
    ImageFolder raw;
    raw.JpegsIn("a", 9);
    Conversion conversion(raw);
    WriteFileAtomically(conversion.out() / name, "precious");
    EXPECT_THAT(conversion.Failure<UsageError>(),
                AllOf(HasSubstr("1 file of"),
                      HasSubstr("such as " + conversion.out() / name)));
    EXPECT_THAT(conversion.Names(), ElementsAre(name));
    EXPECT_EQ(conversion.Read(name), "precious");
    (void)conversion.Run({.overwrite = true});
    EXPECT_THAT(conversion.Records("train"), SizeIs(9)) << name;
  }
}

TEST(ConverterTest, WritesTheReferencesFoldersAndEmptyShards) {
  ImageFolder raw;
  raw.JpegsIn("train/a", 4).JpegsIn("validation/a", 1);
  Conversion conversion(raw);
  (void)conversion.Run({}, {.layout = ShardLayout::kReference, .shards = 3});
  EXPECT_THAT(conversion.Read("train/train-00002-of-00003"), IsEmpty());
  EXPECT_THAT(conversion.Records("train"), SizeIs(4));
  EXPECT_THAT(conversion.Records("validation"), SizeIs(1));
}

TEST(ConverterTest, NamesAnOutputFolderThatCannotBeMade) {
  ImageFolder raw;
  raw.JpegsIn("a", 1).File("file", "");
  const ConversionPlan plan = PlanConversion(FindImages(raw.path()), {});
  EXPECT_THAT(MessageOf<IoError>([&] {
                (void)Convert(plan, raw / "file/out", {},
                              [](const ConversionProgress&) {});
              }),
              HasSubstr("cannot create: Not a directory"));
}

// The names of tars do not say how many there are.
TEST(ConverterTest, AnInterruptedSetIsRefusedByReaders) {
  for (const ShardFormat format :
       {ShardFormat::kWebdataset, ShardFormat::kTfrecord}) {
    ImageFolder raw;
    raw.JpegsIn("train/cat", 3).JpegsIn("train/dog", 3).JpegsIn("val/cat", 1);
    const TemporaryFolder out;
    const ConversionPlan plan =
        PlanConversion(FindImages(raw.path()), {.format = format, .shards = 3});
    const auto convert = [&](const ConverterOptions& options) {
      (void)Convert(plan, out.path(), options, [](const auto&) {});
    };
    convert({.share = {.index = 0, .count = 4}});
    for (const char* split : {"train", "validation"}) {
      EXPECT_THAT(
          MessageOf<DataError>([&] { (void)IndexSplit(out.path(), split); }),
          AllOf(HasSubstr("missing: "), HasSubstr("has not finished")))
          << split;
    }
    EXPECT_THAT(MessageOf<DataError>([&] { (void)ListShards(out.path()); }),
                HasSubstr("has not finished (run it again)"));
    convert({});
    EXPECT_TRUE(IndexSplit(out.path(), "train"));
    EXPECT_FALSE(std::filesystem::exists(out / ".infeed/unfinished"));
    std::filesystem::remove(out.path() + "/" + plan.splits[0].shards[1].name);
    EXPECT_THAT(
        MessageOf<DataError>([&] { (void)IndexSplit(out.path(), "train"); }),
        HasSubstr("1 shard is missing: "));
  }
}

TEST(ConverterTest, StopsWhenTheCallerFails) {
  ImageFolder raw;
  raw.JpegsIn("a", 50);
  const ConversionPlan plan = PlanConversion(FindImages(raw.path()), {});
  const auto convert = [&] {
    (void)Convert(
        plan, raw / "out", {.threads = 2},
        [](const ConversionProgress&) { throw UsageError("enough"); });
  };
  EXPECT_THROW(convert(), UsageError);
  EXPECT_FALSE(std::filesystem::exists(raw / "out/dataset.json"));
}

}  // namespace infeed::converter_test
