#include "tools/rewrite/shard_rewriter.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <stop_token>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/files/dataset_info.h"
#include "records/tfrecord/reader.h"
#include "records/tfrecord/writer.h"
#include "tests/support/files_in.h"
#include "tests/support/flower_records.h"
#include "tests/support/matchers.h"
#include "tests/support/read_payloads.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

namespace infeed::shard_rewriter_test {

namespace fs = std::filesystem;
using ::testing::UnorderedElementsAreArray;
using Kind = ShardCut::Kind;
using Strings = std::vector<std::string>;

void Write(const std::string& path, const Strings& payloads,
           Compression compression = Compression::kNone) {
  TfrecordWriter writer(path, {.compression = compression});
  for (const std::string& payload : payloads) {
    writer.Append(payload);
  }
  writer.Close();
}

// 100 training records in three shards, one of which is empty, and 7 more.
class ShardRewriterTest : public ::testing::Test {
 protected:
  ShardRewriterTest() {
    fs::create_directories(in_);
    for (std::size_t i = 0; i < 100; ++i) {
      train_.push_back("t" + std::to_string(i) + std::string(i, 'x'));
    }
    Write(shards_[0], {train_.begin(), train_.begin() + 60});
    Write(shards_[1], {});
    Write(shards_[2], {train_.begin() + 60, train_.end()});
    Write(shards_[3], validation_);
    options_.writing.output = out_;
    options_.cut = {.kind = Kind::kShards, .value = 2};
  }

  [[nodiscard]] RewrittenSet Rewrite(const Strings& shards) const {
    return RewriteShards(shards, options_, Interruption(std::stop_token()));
  }
  // Rewrites the set into an empty folder.
  [[nodiscard]] RewrittenSet Rewrite() const {
    fs::remove_all(out_);
    return Rewrite(shards_);
  }
  [[nodiscard]] std::string Refusal(const Strings& shards) const {
    return MessageOf<UsageError>([&] { (void)Rewrite(shards); });
  }
  // The records of the new shards of a prefix, in order.
  [[nodiscard]] Strings Read(const RewrittenSet& set,
                             const std::string& prefix) const {
    Strings payloads;
    for (const DatasetInfo::Shard& shard : set.shards) {
      if (shard.name.starts_with(prefix + "-0")) {
        std::ranges::move(ReadPayloads(out_ + "/" + shard.name),
                          std::back_inserter(payloads));
      }
    }
    return payloads;
  }

  const TemporaryFolder folder_;
  const std::string in_ = folder_ / "in";
  const std::string out_ = folder_ / "out";
  const Strings shards_ = {
      in_ + "/train-00000-of-00003", in_ + "/train-00001-of-00003",
      in_ + "/train-00002-of-00003", in_ + "/validation-00000-of-00001"};
  Strings train_;
  const Strings validation_ = {"v0", "v1", "v2", "v3", "v4", "v5", "v6"};
  RewriteOptions options_;
};

TEST_F(ShardRewriterTest, EveryRecordIsKeptOnceAndInOrder) {
  for (const Compression packing : {Compression::kNone, Compression::kGzip}) {
    Write(shards_[2], {train_.begin() + 60, train_.end()}, packing);
    options_.writing.compression = packing;
    for (const int shards : {1, 2, 8, 120}) {
      options_.cut.value = shards;
      const RewrittenSet set = Rewrite();
      EXPECT_EQ(Read(set, "train"), train_) << shards;
      EXPECT_EQ(Read(set, "validation"), validation_) << shards;
      EXPECT_THAT(set.shards,
                  SizeIs(std::min(shards, 100) + std::min(shards, 7)));
      // Each has an index unless it is compressed; the set has a dataset.json.
      const int files = packing == Compression::kNone ? 2 : 1;
      EXPECT_EQ(FilesBelow(out_).size(), files * set.shards.size() + 1);
      EXPECT_EQ(TfrecordReader(out_ + "/" + set.shards[0].name).compression(),
                packing);
    }
  }
}

TEST_F(ShardRewriterTest, TheReportCountsRecordsAndADryRunOnlyPlans) {
  for (const bool is_plan : {true, false}) {
    options_.writing.dry_run = is_plan;
    EXPECT_EQ(RenderText(RewriteReport(Rewrite())),
              out_ + "/train-00000-of-00002 50\n" + out_ +
                  "/train-00001-of-00002 50\n" + out_ +
                  "/validation-00000-of-00002 4\n" + out_ +
                  "/validation-00001-of-00002 3\n" +
                  (is_plan ? "would write 107 records in 4 shards\n"
                           : "107 records in 4 shards, 0 bad left out\n"));
    EXPECT_NE(fs::exists(out_), is_plan);
  }
}

TEST_F(ShardRewriterTest, AShuffleIsTheSameForAnyThreadsMemoryAndPacking) {
  options_.order = RewriteOrder::kShuffled;
  options_.seed = 4;
  options_.writing.threads = 1;
  const RewrittenSet set = Rewrite();
  const Strings shuffled = Read(set, "train");
  EXPECT_NE(shuffled, train_);
  EXPECT_THAT(shuffled, UnorderedElementsAreArray(train_));
  EXPECT_THAT(Read(set, "validation"), UnorderedElementsAreArray(validation_));
  EXPECT_EQ(ReadDatasetInfo(out_)->seed, 4U);

  options_.writing.threads = 2;
  options_.cut.value = 8;
  options_.memory_limit = std::int64_t{21} << 20;
  EXPECT_EQ(Read(Rewrite(), "train"), shuffled);
  Write(shards_[0], {train_.begin(), train_.begin() + 60}, Compression::kGzip);
  EXPECT_EQ(Read(Rewrite(), "train"), shuffled);
  EXPECT_FALSE(fs::exists(out_ + "/.infeed/tmp"));
  options_.seed = 5;
  EXPECT_NE(Read(Rewrite(), "train"), shuffled);
}

TEST_F(ShardRewriterTest, DamageEndsItWithAdviceOrIsLeftOut) {
  // An index does not see damage of a payload, but that of a frame.
  const RecordFile payload =
      RecordFile().Add("a").Add("b").Add("c").FlipByte(17 + 12);
  const RecordFile frame =
      RecordFile().Add("a").Add("bad").Add("c").FlipByte(17 + 2);
  payload.Write(shards_[1]);
  EXPECT_THAT(MessageOf<DataError>([&] { (void)Rewrite(); }),
              AllOf(HasSubstr("train-00001-of-00003: record 1"),
                    HasSubstr("`records repair`")));
  EXPECT_TRUE(fs::is_empty(out_));
  options_.writing.skip_bad = true;
  Strings expected = train_;
  expected.insert(expected.begin() + 60, {"a", "c"});
  for (const RecordFile& damaged : {payload, frame}) {
    damaged.Write(shards_[1]);
    options_.order = RewriteOrder::kAsIs;
    RewrittenSet set = Rewrite();
    EXPECT_EQ(Read(set, "train"), expected);
    EXPECT_EQ(set.left_out, 1);
    options_.order = RewriteOrder::kShuffled;
    set = Rewrite();
    EXPECT_THAT(Read(set, "train"), UnorderedElementsAreArray(expected));
    EXPECT_EQ(set.left_out, 1);
  }
}

TEST_F(ShardRewriterTest, TheDescriptionIsKeptAndMustBeTheSame) {
  const DatasetInfo classes = {
      .seed = 9, .classes = {"cat", "dog"}, .first_label = 0};
  WriteDatasetInfo(in_, classes);
  const RewrittenSet set = Rewrite();
  const auto info = ReadDatasetInfo(out_);
  ASSERT_TRUE(info);
  EXPECT_EQ(info->seed, 9U);
  EXPECT_EQ(info->classes, classes.classes);
  EXPECT_EQ(info->first_label, 0);
  ASSERT_EQ(info->splits.size(), 2U);
  EXPECT_EQ(info->splits[0].records, 100);
  const DatasetInfo::Shard& shard = info->splits[0].shards[1];
  EXPECT_EQ(shard.crc32c, set.shards[1].crc32c);
  EXPECT_EQ(static_cast<std::uintmax_t>(shard.bytes),
            fs::file_size(out_ + "/" + shard.name));

  const std::string other = folder_ / "train-00000-of-00001";
  Write(other, {});
  for (const DatasetInfo& others :
       {DatasetInfo{.classes = {"dog"}, .first_label = 0},
        DatasetInfo{.classes = {"cat", "dog"}, .first_label = 1}}) {
    WriteDatasetInfo(folder_.path(), others);
    fs::remove_all(out_);
    EXPECT_THAT(Refusal({shards_[0], other}),
                HasSubstr("number their classes differently"));
  }
}

TEST_F(ShardRewriterTest, ShardsThatStayBesideTheNewOnesHaveTheSameClasses) {
  WriteDatasetInfo(in_, {.classes = {"cat", "dog"}, .first_label = 1});
  fs::create_directories(out_);
  Write(out_ + "/test-00000-of-00001", {"x"});
  const DatasetInfo others = {.classes = {"dog", "cat"}, .first_label = 1};
  WriteDatasetInfo(out_, others);
  const auto before = FilesBelow(out_);
  for (const bool is_plan : {true, false}) {
    options_.writing.dry_run = is_plan;
    EXPECT_THAT(Refusal(shards_),
                AllOf(HasSubstr(in_), HasSubstr(out_), HasSubstr("--output")));
    EXPECT_EQ(FilesBelow(out_), before);
  }
  WriteDatasetInfo(out_, {.classes = {"cat", "dog", "emu"}, .first_label = 1});
  (void)Rewrite(shards_);
  EXPECT_THAT(ReadDatasetInfo(out_)->classes, ElementsAre("cat", "dog", "emu"));
}

TEST_F(ShardRewriterTest, NamesOfAListAreKeptWithTheirLabels) {
  Write(shards_[0], {PayloadOf({"a", 0}), PayloadOf({"b", 1})});
  Write(shards_[2], {});
  Write(shards_[3], {PayloadOf({"c", 1})});
  WriteFileAtomically(in_ + "/labels.txt", "cat\ndog\n");
  (void)Rewrite({shards_[3]});  // without the first class
  EXPECT_THAT(ReadDatasetInfo(out_)->classes, ElementsAre("cat", "dog"));
  EXPECT_EQ(ReadDatasetInfo(out_)->first_label, 0);
}

TEST_F(ShardRewriterTest, AnOlderSetIsReplacedOnlyWhenTold) {
  fs::create_directories(out_);
  const std::string old = out_ + "/train-00000-of-00009";
  Write(old, {});
  EXPECT_THAT(Refusal(shards_),
              AllOf(HasSubstr(old), HasSubstr("--overwrite")));
  EXPECT_THAT(FilesBelow(out_), SizeIs(1));
  options_.writing.overwrite = true;
  EXPECT_EQ(Read(Rewrite(shards_), "train"), train_);
  EXPECT_FALSE(fs::exists(old));
  options_.writing.output = in_;
  EXPECT_THAT(Refusal(shards_), HasSubstr("lies in this folder"));
  options_.writing.output = "";
  EXPECT_EQ(Refusal(shards_), "--output '': give a folder");
}

TEST_F(ShardRewriterTest, ThePrefixIsGivenWhereNamesHaveNone) {
  const std::string odd = folder_ / "odd.tfrecord";
  Write(odd, {"x"});
  EXPECT_THAT(Refusal({odd}), HasSubstr("--prefix"));
  options_.prefix = "test";
  EXPECT_THAT(Read(Rewrite({odd}), "test"), ElementsAre("x"));
}

TEST_F(ShardRewriterTest, EachClassMayHaveItsShard) {
  const std::string cat = PayloadOf({"a", 1, "", "", "cat"});
  const std::string dog = PayloadOf({"b", 2, "", "", "dog/../x"});
  const std::string dog2 = PayloadOf({"c", 2, "", "", "dog/../x"});
  const std::string other = PayloadOf({"d", 3, "", "", "cat"});
  const std::string odd = PayloadOf({"e", 7});
  const Strings shards = {shards_[0], shards_[1]};
  Write(shards[0], {dog, cat, "no Example"});
  Write(shards[1], {odd, dog2, other});
  options_.order = RewriteOrder::kByLabel;
  EXPECT_THROW((void)Rewrite(shards), DataError);
  options_.writing.skip_bad = true;
  const RewrittenSet set = Rewrite(shards);
  EXPECT_THAT(set.shards, SizeIs(4));
  EXPECT_EQ(set.left_out, 1);
  EXPECT_THAT(Read(set, "train-cat"), ElementsAre(cat));
  EXPECT_THAT(Read(set, "train-dog_.._x"), ElementsAre(dog, dog2));
  EXPECT_THAT(Read(set, "train-cat-label-3"), ElementsAre(other));
  EXPECT_THAT(Read(set, "train-label-7"), ElementsAre(odd));
  EXPECT_EQ(ReadDatasetInfo(out_)->splits[0].name, "train-cat");
}

TEST_F(ShardRewriterTest, AClassNamedAsASplitMakesNoShardOfIt) {
  const std::string odd = folder_ / "odd";
  options_.prefix = "flowers";
  for (const std::string& shard : {shards_[0], odd}) {
    Write(shard, {PayloadOf({"a", 4, "", "", "val"}),
                  PayloadOf({"b", 5, "", "", "rose"})});
    options_.order = RewriteOrder::kByLabel;
    const RewrittenSet set = Rewrite({shard});
    ASSERT_THAT(set.shards, SizeIs(2));
    EXPECT_THAT(set.shards[0].name, EndsWith("-label-4-00000-of-00001"));
    EXPECT_THAT(set.shards[1].name, EndsWith("-rose-00000-of-00001"));
    fs::remove_all(out_);
  }
}

TEST_F(ShardRewriterTest, APrefixWithoutRecordsHasNoClasses) {
  Write(shards_[0], {PayloadOf({"a", 1, "", "", "cat"})});
  Write(shards_[3], {});
  options_.order = RewriteOrder::kByLabel;
  EXPECT_EQ(RenderText(RewriteReport(Rewrite({shards_[0], shards_[3]}))),
            out_ +
                "/train-cat-00000-of-00001 1\n"
                "1 record in 1 shard, 0 bad left out\n");
  fs::remove_all(out_);
  EXPECT_THAT(Rewrite({shards_[1]}).shards, IsEmpty());
}

// Merges the two shards at the end, of 40 records and 7.
class ShardMergeTest : public ShardRewriterTest {
 protected:
  [[nodiscard]] std::string Merge(const WritingOptions& options) const {
    return RenderText(MergeReport(MergeShards(
        {shards_[2], shards_[3]}, options, Interruption(std::stop_token()))));
  }

  const std::string file_ = out_ + "/all.tfrecord";
};

TEST_F(ShardMergeTest, RecordsStayInTheirOrder) {
  EXPECT_EQ(Merge({.output = file_, .dry_run = true}),
            "would write 47 records of 2 shards to " + file_ + "\n");
  EXPECT_FALSE(fs::exists(out_));
  EXPECT_EQ(Merge({.output = file_}),
            "47 records in " + file_ + ", 0 bad left out\n");
  Strings expected(train_.begin() + 60, train_.end());
  expected.insert(expected.end(), validation_.begin(), validation_.end());
  EXPECT_EQ(ReadPayloads(file_), expected);
  EXPECT_TRUE(fs::exists(out_ + "/.infeed/all.tfrecord.index"));

  EXPECT_THROW((void)Merge({.output = file_}), UsageError);
  (void)Merge(
      {.output = file_, .overwrite = true, .compression = Compression::kGzip});
  EXPECT_EQ(TfrecordReader(file_).compression(), Compression::kGzip);
  EXPECT_EQ(ReadPayloads(file_), expected);
}

TEST_F(ShardMergeTest, BadRecordsEndItOrAreLeftOut) {
  RecordFile().Add("x").AddRaw("garbage").Add("y").Write(shards_[2]);
  EXPECT_THAT(MessageOf<DataError>([&] { (void)Merge({.output = file_}); }),
              HasSubstr("`records repair`"));
  EXPECT_TRUE(fs::is_empty(out_));
  EXPECT_EQ(Merge({.output = file_, .skip_bad = true}),
            "9 records in " + file_ + ", 1 bad left out\n");
}

TEST_F(ShardMergeTest, DifferentClassesAreRefused) {
  const std::string other = folder_ / "more/train-00000-of-00001";
  fs::create_directories(folder_ / "more");
  Write(other, {"x"});
  WriteDatasetInfo(in_, {.classes = {"cat", "dog"}});
  for (const bool is_plan : {true, false}) {
    WriteDatasetInfo(folder_ / "more", {.classes = {"ant", "bee"}});
    const auto merge = [&] {
      (void)MergeShards({shards_[3], other},
                        {.output = file_, .dry_run = is_plan},
                        Interruption(std::stop_token()));
    };
    EXPECT_THAT(MessageOf<UsageError>(merge),
                AllOf(HasSubstr(in_), HasSubstr(folder_ / "more"),
                      HasSubstr("number their classes differently")));
    EXPECT_FALSE(fs::exists(out_));
    WriteDatasetInfo(folder_ / "more", {.classes = {"cat", "dog"}});
    merge();
  }
  EXPECT_THAT(ReadPayloads(file_), SizeIs(8));
}

TEST_F(ShardMergeTest, ClassesAreKeptForASplit) {
  const DatasetInfo classes = {.classes = {"cat", "dog"}, .first_label = 0};
  WriteDatasetInfo(in_, classes);
  (void)Merge({.output = file_});
  EXPECT_EQ(ReadDatasetInfo(out_)->splits.at(0).shards.at(0).records, 47);
  options_.prefix = "train";
  options_.writing.output = folder_ / "again";
  (void)Rewrite({file_});
  const auto info = ReadDatasetInfo(folder_ / "again");
  EXPECT_EQ(info->classes, classes.classes);
  EXPECT_EQ(info->first_label, 0);
}

TEST_F(ShardMergeTest, AFileInTheWorkingFolderIsReplaced) {
  const fs::path before = fs::current_path();
  fs::create_directories(out_);
  fs::current_path(out_);
  for (const bool overwrite : {false, true}) {
    EXPECT_THAT(Merge({.output = "all.tfrecord", .overwrite = overwrite}),
                HasSubstr("47 records"));
  }
  fs::current_path(before);
  EXPECT_THAT(ReadPayloads(file_), SizeIs(47));
}

TEST_F(ShardMergeTest, AnOutputThatSpoilsTheInputIsRefused) {
  for (const std::string& output :
       {shards_[3], in_ + "/train-00000-of-00001", in_, in_ + "/"}) {
    EXPECT_THROW((void)Merge({.output = output, .overwrite = true}), UsageError)
        << output;
  }
  EXPECT_EQ(ReadPayloads(shards_[3]), validation_);
}

}  // namespace infeed::shard_rewriter_test
