#include "tools/inspect/record_selection.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "records/example/imagenet_example.h"
#include "records/tfrecord/compression.h"
#include "records/tfrecord/writer.h"
#include "tests/support/flower_records.h"
#include "tests/support/matchers.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

// Labels 1 and 2 in a plain shard, 3 and 4 in a compressed one, 5 and 6 in a
// plain one.
class RecordSelectionTest : public ::testing::Test {
 protected:
  RecordSelectionTest() {
    for (const int shard : {0, 1, 2}) {
      paths_.push_back(folder_ / std::to_string(shard));
      TfrecordWriter writer(paths_.back(),
                            {.compression = shard == 1 ? Compression::kGzip
                                                       : Compression::kNone});
      for (const int label : {2 * shard + 1, 2 * shard + 2}) {
        writer.Append(PayloadOf({"an image", label}));
      }
      writer.Close();
    }
  }

  [[nodiscard]] std::vector<std::int64_t> LabelsOf(
      const RecordSelection& selection, std::int64_t limit = -1) const {
    std::vector<std::int64_t> labels;
    ForEachSelected(
        paths_, selection, limit,
        [&](const std::string& /*path*/, const Record& record) {
          labels.push_back(ParseImagenetExample(record.payload).label);
        },
        [](const DataError& /*error*/) {});
    return labels;
  }

  const TemporaryFolder folder_;
  std::vector<std::string> paths_;
};

TEST_F(RecordSelectionTest, TakesRecordsByTheirNumbers) {
  EXPECT_THAT(LabelsOf(RecordSelection()), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(LabelsOf(RecordSelection("0")), ElementsAre(1));
  EXPECT_THAT(LabelsOf(RecordSelection("5,1-3")), ElementsAre(2, 3, 4, 6));
  EXPECT_THAT(LabelsOf(RecordSelection("1-99"), 2), ElementsAre(2, 3));
}

TEST_F(RecordSelectionTest, RefusesNumbersThatNoRecordHas) {
  for (const std::string_view list : {"6", "1,6-9", "6-9,1"}) {
    EXPECT_EQ(
        MessageOf<UsageError>([&] { (void)LabelsOf(RecordSelection(list)); }),
        "no record 6: there are 0 to 5")
        << list;
  }
  EXPECT_THAT(LabelsOf(RecordSelection("1,9"), 1), ElementsAre(2));
  EXPECT_THAT(LabelsOf(RecordSelection(6)), IsEmpty());
}

TEST_F(RecordSelectionTest, PassesOverRecords) {
  EXPECT_THAT(LabelsOf(RecordSelection(3)), ElementsAre(4, 5, 6));
  EXPECT_THAT(LabelsOf(RecordSelection(1), 1), ElementsAre(2));
  EXPECT_THAT(LabelsOf(RecordSelection(), 0), IsEmpty());
}

TEST_F(RecordSelectionTest, CountsOnInDamagedShards) {
  RecordFile()
      .AddRaw("this is no frame")
      .Add(PayloadOf({"an image", 7}))
      .Write(paths_[0]);
  EXPECT_THAT(LabelsOf(RecordSelection("1,3")), ElementsAre(7, 4));
}

TEST_F(RecordSelectionTest, RefusesWhatIsNoListOfRecords) {
  for (const std::string list : {"x", "3-", "-3", "5-3", "1,,2", "1;2", "1,"}) {
    EXPECT_THAT(MessageOf<UsageError>(
                    [&] { (void)RecordSelection(std::string_view(list)); }),
                HasSubstr("is not a list of records"))
        << list;
  }
}

}  // namespace
}  // namespace infeed
