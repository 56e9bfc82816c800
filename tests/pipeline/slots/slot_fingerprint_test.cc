#include "pipeline/slots/slot_fingerprint.h"

#include <cstdint>
#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace infeed::slot_fingerprint_test {

TEST(SlotFingerprintTest, EachFactCounts) {
  const SlotRecord record = {
      .record = 7, .payload_bytes = 100, .stored_crc = 5, .label = 3};
  std::vector<SlotRecord> records(6, record);
  records[1].record = 8;
  records[2].payload_bytes = 101;
  records[3].stored_crc = 6;
  records[4].label = -1;
  records[5].stored_crc = {};
  const SlotMaking making = {.epoch = 1, .position = 9, .made = 4};
  std::vector<SlotMaking> makings(4, making);
  makings[1].epoch = 2;
  makings[2].position = 10;
  makings[3].made = 0;
  std::set<std::uint64_t> hashes;
  for (const SlotRecord& one : records) {
    for (const SlotMaking& how : makings) {
      hashes.insert(SlotFingerprint(HashRecord(one), how));
    }
  }
  EXPECT_EQ(hashes.size(), records.size() * makings.size());
}

// The sum of two slots is not that of the same records at exchanged places.
TEST(SlotFingerprintTest, ARecordBelongsToItsPlace) {
  const auto sum = [](std::int64_t first, std::int64_t second) {
    return SlotFingerprint(HashRecord({.record = first}), {.position = 0}) +
           SlotFingerprint(HashRecord({.record = second}), {.position = 1});
  };
  EXPECT_NE(sum(0, 1), sum(1, 0));
}

TEST(SlotFingerprintTest, TheRecordsHashComesBack) {
  for (std::int64_t record = 0; record < 100; ++record) {
    const SlotMaking making = {.epoch = 3, .position = 5 * record, .made = 11};
    const std::uint64_t hash = HashRecord({.record = record});
    EXPECT_EQ(RecordHashIn(SlotFingerprint(hash, making), making), hash);
  }
}

}  // namespace infeed::slot_fingerprint_test
