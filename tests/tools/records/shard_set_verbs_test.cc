// The verbs on sets of shards, and on archives and folders of images.

#include <filesystem>
#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/program_end.h"
#include "records/tfrecord/compression.h"
#include "records/tfrecord/writer.h"
#include "tests/support/flower_records.h"
#include "tests/support/matchers.h"
#include "tests/support/photograph_forms.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"
#include "tests/support/throws.h"
#include "tests/support/zip_builder.h"
#include "tests/tools/records/run_verb.h"

namespace infeed::shard_set_verbs_test {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// Labels 1 and 2 in a plain shard, 3 and 4 in a compressed one, 5 and 6 in a
// plain one.
class ShardSetVerbsTest : public ::testing::Test {
 protected:
  ShardSetVerbsTest() {
    for (const int shard : {0, 1, 2}) {
      TfrecordWriter writer(Path(shard),
                            {.compression = shard == 1 ? Compression::kGzip
                                                       : Compression::kNone});
      for (const int label : {2 * shard + 1, 2 * shard + 2}) {
        writer.Append(
            PayloadOf({jpeg_, label, std::to_string(label) + ".jpg",
                       "ros\xC3\xA9", "n" + std::to_string(label), 31, 17}));
      }
      writer.Close();
    }
  }

  [[nodiscard]] std::string Path(int shard) const {
    return folder_ / ("train-0000" + std::to_string(shard) + "-of-00003");
  }
  [[nodiscard]] VerbResult Run(const std::string& verb) const {
    return RunVerb(verb + " " + folder_.path());
  }

  const TemporaryFolder folder_;
  const std::string jpeg_ = TestJpeg({.width = 31, .height = 17});
};

TEST_F(ShardSetVerbsTest, MissingShardsAreRefusedUnlessAllowed) {
  fs::remove(Path(1));
  const std::string text = "1 shard is missing: " + Path(1);
  for (const std::string verb : {"count", "cat", "head", "stats"}) {
    EXPECT_THAT(MessageOf<DataError>([&] { (void)Run(verb); }), HasSubstr(text))
        << verb;
    const VerbResult allowed = Run(verb + " --allow_missing_shards");
    EXPECT_EQ(allowed.code, ExitCode::kDone) << verb;
    EXPECT_THAT(allowed.err, HasSubstr(text)) << verb;
  }
  EXPECT_EQ(RunVerb("count " + Path(0)).code, ExitCode::kDone);
  // It does one shard after the other: nothing that is done is wrong.
  const VerbResult index = Run("index");
  EXPECT_EQ(index.code, ExitCode::kDone);
  EXPECT_THAT(index.err, HasSubstr(text));
}

TEST_F(ShardSetVerbsTest, LsAndVerifyReportMissingShards) {
  fs::remove(Path(1));
  const VerbResult ls = Run("ls");
  EXPECT_EQ(ls.code, ExitCode::kDataError);
  EXPECT_THAT(ls.out, HasSubstr("\nmissing "));
  EXPECT_THAT(ls.err, HasSubstr(Path(1) + ": missing"));
  EXPECT_EQ(Run("verify").code, ExitCode::kDataError);
  const VerbResult allowed = Run("verify --allow_missing_shards");
  EXPECT_EQ(allowed.code, ExitCode::kDone);
  EXPECT_THAT(allowed.err, HasSubstr("1 shard is missing: " + Path(1)));
  // For a single named shard, no others are expected.
  EXPECT_EQ(RunVerb("verify " + Path(2)).code, ExitCode::kDone);
  fs::create_symlink("nowhere", Path(1));
  EXPECT_THAT(MessageOf<IoError>([&] { (void)Run("verify"); }),
              HasSubstr(Path(1) + ": cannot open"));
}

TEST_F(ShardSetVerbsTest, CatPrintsTheChosenFeaturesOfTheChosenRecords) {
  const VerbResult result =
      Run("cat --record 5,1-3 --limit 1 --keys image/filename,image/height");
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["file"], Path(0));
  EXPECT_EQ(json["record"], 1);
  EXPECT_EQ(json["features"],
            Json({{"image/filename", "2.jpg"}, {"image/height", 17}}));
  EXPECT_THAT(
      Run("cat --offset 4 --limit 1").out,
      AllOf(HasSubstr("\"image/class/label\":5,"),
            HasSubstr("\"image/class/text\":\"ros\xC3\xA9\""),
            HasSubstr("\"image/encoded\":{\"bytes\":"), EndsWith("}}\n")));
  EXPECT_THROW((void)Run("cat --record x"), UsageError);
  EXPECT_THROW((void)Run("cat --record 1 --offset 1"), CLI::ParseError);
}

TEST_F(ShardSetVerbsTest, CatNamesBadRecordsThatItFindsByTheIndex) {
  (void)RunVerb("index " + Path(0));
  const std::string bytes = ReadWholeFile(Path(0), 1 << 20);
  const auto time = fs::last_write_time(Path(0));
  RecordFile().AddRaw(bytes).FlipByte(bytes.size() - 20).Write(Path(0));
  fs::last_write_time(Path(0), time);
  const VerbResult result = Run("cat --record 1-2");
  EXPECT_EQ(result.code, ExitCode::kDataError);
  EXPECT_THAT(result.err, HasSubstr(Path(0) + ": record 1 at byte "));
  EXPECT_THAT(result.out, HasSubstr("\"image/class/label\":3"));
}

TEST_F(ShardSetVerbsTest, HeadShowsTheFirstRecords) {
  EXPECT_THAT(
      Run("head -n 3").out,
      AllOf(StartsWith("shard                 record  label  text   size  "),
            HasSubstr("\ntrain-00000-of-00003       1      2  ros\xC3\xA9  "
                      "31x17  "),
            HasSubstr("\ntrain-00001-of-00003       0      3  "),
            EndsWith("  3.jpg\n"), Not(HasSubstr("4.jpg"))));
  EXPECT_EQ(Run("head --json -n 2").out, Run("cat --limit 2").out);
  RecordFile().Add("not an Example").Write(Path(0));
  const VerbResult bad = Run("head -n 2");
  EXPECT_EQ(bad.code, ExitCode::kDataError);
  EXPECT_THAT(bad.err, HasSubstr(Path(0) + ": record 0 at byte 0: "));
  EXPECT_THAT(bad.out, EndsWith("  3.jpg\n"));
}

class FormsVerbsTest : public ::testing::Test {
 protected:
  const PhotographForms forms_;
  const TemporaryFolder folder_;
  const std::string out_ = folder_ / "out";
};

TEST_F(FormsVerbsTest, ArchivesAreRead) {
  for (const std::string& data : {forms_.tars(), forms_.zip()}) {
    const auto out = [&](const std::string& verb) {
      return RunVerb(verb + " " + data).out;
    };
    EXPECT_THAT(out("count"), HasSubstr("total 42"));
    EXPECT_THAT(out("ls"), HasSubstr("42"));
    EXPECT_THAT(out("head"), HasSubstr("train1000.jpg"));
    EXPECT_THAT(out("verify"), HasSubstr("42 records in"));
    EXPECT_THAT(out("stats"), HasSubstr("classes     3"));
    EXPECT_THAT(out("extract --output " + out_),
                HasSubstr("42 images in 3 folders"));
    fs::remove_all(out_);
  }
}

TEST_F(FormsVerbsTest, VerbsThatWriteShardsNameTheProgramThatConverts) {
  const std::string output = " --output " + out_;
  for (const std::string& verb :
       {"repair" + output, "merge" + output, "reshard --prefix a" + output,
        "split --parts 2" + output, "diff " + forms_.shards()}) {
    for (const std::string& data :
         {forms_.images(), forms_.tars(), forms_.zip()}) {
      if (verb.starts_with("diff") && data == forms_.images()) {
        continue;  // It takes no folder without shards at all.
      }
      const std::string line = verb + " " + data;
      EXPECT_THAT(MessageOf<UsageError>([&] { (void)RunVerb(line); }),
                  HasSubstr("imagenet_to_records --raw_data_dir " + data))
          << verb;
      EXPECT_FALSE(fs::exists(out_));
    }
  }
}

TEST_F(FormsVerbsTest, VerifyNamesWhatAZipLeavesOut) {
  const std::string zip = folder_ / "a.zip";
  WriteFileAtomically(zip, ZipBuilder()
                               .Add(StoredMember("../cat/a.jpg", "?"))
                               .Add(StoredMember("cat/b.jpg", TestJpeg()))
                               .bytes());
  const VerbResult result = RunVerb("verify " + zip);
  EXPECT_EQ(result.code, ExitCode::kDone);
  EXPECT_THAT(result.out, AllOf(HasSubstr("the first ../cat/a.jpg\n"),
                                HasSubstr("1 record in 1 shard, 0 bad")));
}

}  // namespace infeed::shard_set_verbs_test
