#include "pipeline/engine/bad_record_ledger.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

constexpr std::int64_t kLongEpoch = 1 << 20;  // batches

BadRecord Bad(std::int64_t record, BadRecordKind kind = BadRecordKind::kFrame) {
  return {.record = record,
          .kind = kind,
          .action = BadRecordAction::kSkipped,
          .error = DataError({"shard", record, 100 * record}, "it is bad")};
}

using Bads = std::vector<BadRecord>;

TEST(BadRecordLedgerTest, CountsKindsAndDifferentRecords) {
  BadRecordLedger ledger({.max_bad_records = 7, .max_bad_rate = 0.5},
                         kLongEpoch);
  BadRecord substitute = Bad(3, BadRecordKind::kExample);
  substitute.draw = 1;
  ledger.Enter(Bads{Bad(2), Bad(3, BadRecordKind::kExample),
                    Bad(4, BadRecordKind::kImage), substitute},
               8);
  ledger.Enter(Bads{Bad(2), Bad(7, BadRecordKind::kLabel)}, 8);
  const BadRecordTotals totals = ledger.totals();
  EXPECT_EQ(totals.samples, 16);
  EXPECT_EQ(totals.bad_samples, 5);
  EXPECT_EQ(totals.different, 4);
  EXPECT_EQ(totals.frames, 2);
  EXPECT_EQ(totals.examples, 2);
  EXPECT_EQ(totals.labels, 1);
  EXPECT_EQ(totals.images, 1);
  EXPECT_EQ(totals.met(), 6);
  EXPECT_EQ(totals.first, "shard: record 2 at byte 200: it is bad");
  EXPECT_EQ(totals.max_different, 7);
  EXPECT_EQ(totals.max_rate, 0.5);
}

TEST(BadRecordLedgerTest, TellsEachBadRecord) {
  std::vector<std::int64_t> told;
  BadRecordLedger ledger(
      {.on_bad = [&](const BadRecord& bad) { told.push_back(bad.record); }},
      kLongEpoch);
  ledger.Enter(Bads{Bad(2), Bad(3)}, 8);
  ledger.Enter(Bads{Bad(2)}, 8);
  EXPECT_THAT(told, ::testing::ElementsAre(2, 3, 2));
}

TEST(BadRecordLedgerTest, CountsWarningsApart) {
  BadRecordLedger ledger({.max_bad_records = 0, .max_bad_rate = 0}, 1);
  ledger.Enter(Bads{Bad(2, BadRecordKind::kWarning)}, 8);
  ledger.Enter(Bads{Bad(5, BadRecordKind::kWarning)}, 8);
  EXPECT_EQ(ledger.totals().warnings, 2);
  EXPECT_THAT(ledger.totals().first_warning, HasSubstr("record 2 at"));
  EXPECT_EQ(ledger.totals().met(), 0);
  EXPECT_EQ(ledger.totals().different, 0);
}

TEST(BadRecordLedgerTest, EndsAtTheRecordThatIsOneTooMany) {
  const TemporaryFolder folder;
  BadRecordLedger ledger(
      {.max_bad_records = 2, .bad_record_report = folder / "bad"}, kLongEpoch);
  ledger.Enter(Bads{Bad(1), Bad(2)}, 8);
  ledger.Enter(Bads{Bad(1)}, 8);  // None that is new.
  EXPECT_EQ(MessageOf<DataError>([&] {
              ledger.Enter(Bads{Bad(2), Bad(7), Bad(8)}, 8);
            }),
            "shard: record 7 at byte 700: it is bad; it is bad record number "
            "3, and max_bad_records is 2 (5 of 24 samples so far); " +
                (folder / "bad") + " lists them");
  const std::string report = ReadWholeFile(folder / "bad", 10000);
  EXPECT_EQ(std::ranges::count(report, '\n'), 3);
  EXPECT_THAT(report, HasSubstr(R"("record":7)"));
}

TEST(BadRecordLedgerTest, HoldsTheRateAgainstItsBudgetAfterAThousandSamples) {
  BadRecordLedger ledger({.max_bad_rate = 0.25}, kLongEpoch);
  ledger.Enter(Bads(400, Bad(1)), 500);
  ledger.Enter({}, 499);
  EXPECT_THAT(MessageOf<DataError>([&] { ledger.Enter({}, 1); }),
              AllOf(HasSubstr("record 1 at byte 100: it is bad; with it 400 of "
                              "1000 samples so far are bad"),
                    HasSubstr("max_bad_rate 0.25 (different records: 1)")));
}

TEST(BadRecordLedgerTest, HoldsTheRateAgainstItsBudgetAfterAnEpoch) {
  BadRecordLedger ledger({.max_bad_rate = 0.5}, 3);
  ledger.Enter(Bads{Bad(0), Bad(1)}, 2);
  ledger.Enter(Bads{Bad(0), Bad(1)}, 2);
  EXPECT_THAT(MessageOf<DataError>([&] { ledger.Enter({}, 2); }),
              HasSubstr("4 of 6 samples"));
}

TEST(BadRecordLedgerTest, AllowsARateThatIsItsBudget) {
  BadRecordLedger ledger({.max_bad_rate = 0.03}, 1);
  ledger.Enter(Bads(30, Bad(0)), 1000);
  EXPECT_THAT(
      MessageOf<DataError>([&] { ledger.Enter(Bads(31, Bad(0)), 1000); }),
      HasSubstr("61 of 2000 samples"));
}

TEST(BadRecordLedgerTest, LeavesSubstitutesOutOfTheRate) {
  BadRecordLedger ledger({.max_bad_rate = 0.5}, 1);
  BadRecord substitute = Bad(3);
  substitute.draw = 1;
  ledger.Enter(Bads{Bad(2), substitute, substitute}, 2);
  EXPECT_EQ(ledger.totals().bad_samples, 1);
  EXPECT_EQ(ledger.totals().different, 2);
}

TEST(BadRecordLedgerTest, NeedsAGoodRecordInEachEpoch) {
  const auto error = [](const InputOptions& options) {
    BadRecordLedger ledger(options, 2);
    ledger.Enter(Bads{Bad(0), Bad(1)}, 2);
    ledger.Enter(Bads{Bad(2)}, 2);
    ledger.Enter(Bads{Bad(0), Bad(1)}, 2);
    return MessageOf<DataError>([&] { ledger.Enter(Bads{Bad(2)}, 1); });
  };
  EXPECT_EQ(error({}),
            "shard: record 2 at byte 200: it is bad; the epoch has no good "
            "record (6 of 7 samples so far are bad)");
  // Fields alone have no labels; a prediction does not need them.
  EXPECT_THAT(error({.layout = BatchContent::kNone, .require_labels = false}),
              HasSubstr("no good record"));
  EXPECT_EQ(error({.require_labels = false}), "");
  EXPECT_EQ(error({.batch_size = 2, .world_size = 2}), "");
}

TEST(BadRecordLedgerTest, SubstitutesAreGoodRecords) {
  BadRecordLedger ledger({}, 1);
  BadRecord replaced = Bad(2);
  replaced.action = BadRecordAction::kReplaced;
  ledger.Enter(Bads{replaced}, 1);
  EXPECT_EQ(ledger.totals().bad_samples, 1);
}

TEST(BadRecordLedgerTest, LeavesItsErrorToWhatFails) {
  BadRecordLedger ledger({.max_bad_records = 0}, kLongEpoch);
  BadRecord failed = Bad(1);
  failed.action = BadRecordAction::kFailed;
  ledger.Enter(Bads{failed}, 8);
  EXPECT_EQ(ledger.totals().different, 1);
}

TEST(BadRecordLedgerTest, ListsARecordOnce) {
  const TemporaryFolder folder;
  BadRecordLedger ledger({.bad_record_report = folder / "bad"}, kLongEpoch);
  const BadRecord warning = Bad(1, BadRecordKind::kWarning);
  for (int epoch = 0; epoch < 3; ++epoch) {
    ledger.Enter(Bads{Bad(1), Bad(1), warning}, 8);
  }
  EXPECT_EQ(ReadWholeFile(folder / "bad", 10000),
            BadRecordLine(Bad(1)) + BadRecordLine(warning));
}

const BadRecord kSkipped{
    .slot = 3,
    .epoch = 2,
    .position = 67,
    .record = 9,
    .kind = BadRecordKind::kImage,
    .action = BadRecordAction::kSkipped,
    .error = DataError({"/data/train-0", 5, 4242}, "no image")};

constexpr const char* kSkippedLine =
    R"({"epoch":2,"position":67,"file":"/data/train-0","record":5,)"
    R"("offset":4242,"kind":"image","action":"skipped","reason":"no image"})"
    "\n";

TEST(BadRecordReportTest, HasALineForARecord) {
  EXPECT_EQ(BadRecordLine(kSkipped), kSkippedLine);
}

TEST(BadRecordReportTest, NamesTheRecordThatIsUsedInstead) {
  BadRecord bad = kSkipped;
  bad.draw = 2;
  bad.kind = BadRecordKind::kFrame;
  bad.action = BadRecordAction::kReplaced;
  bad.replaced_by = {"/data/train-1", 0, 16};
  EXPECT_EQ(
      BadRecordLine(bad),
      R"({"epoch":2,"position":67,"draw":2,"file":"/data/train-0","record":5,)"
      R"("offset":4242,"kind":"frame","action":"replaced",)"
      R"("by":{"file":"/data/train-1","record":0,"offset":16},)"
      R"("reason":"no image"})"
      "\n");
}

TEST(BadRecordReportTest, AnyMessageGivesValidJson) {
  BadRecord bad = kSkipped;
  bad.error = DataError({"/data/\xff", 0, 0}, "a \"quote\"\n\xc3(");
  const std::string line = BadRecordLine(bad);
  EXPECT_THAT(line, HasSubstr(R"("file":"/data/\\xff")"));
  EXPECT_THAT(line, HasSubstr(R"("reason":"a \"quote\"\n\\xc3(")"));
}

TEST(BadRecordReportTest, GoesOnAtTheEndOfTheFile) {
  const TemporaryFolder folder;
  const InputOptions options{.bad_record_report = folder / "bad.jsonl"};
  for (int run = 0; run < 2; ++run) {
    BadRecordReport report(options);
    EXPECT_EQ(report.path(), folder / "bad.jsonl");
    report.Add(std::vector<BadRecord>{kSkipped});
  }
  EXPECT_EQ(ReadWholeFile(folder / "bad.jsonl", 1000),
            std::string(kSkippedLine) + kSkippedLine);
}

TEST(BadRecordReportTest, SaysAtStartThatItCannotBeWritten) {
  const TemporaryFolder folder;
  const InputOptions options{.bad_record_report = folder.path()};
  EXPECT_THAT(MessageOf<IoError>([&] { BadRecordReport report(options); }),
              HasSubstr("cannot open: Is a directory"));
  InputOptions none{.bad_record_report = folder / "none/bad.jsonl"};
  for (const int ranks : {1, 2}) {
    none.world_size = ranks;
    EXPECT_THAT(MessageOf<IoError>([&] { BadRecordReport report(none); }),
                HasSubstr("there is no folder " + (folder / "none")));
  }
}

}  // namespace

}  // namespace infeed
