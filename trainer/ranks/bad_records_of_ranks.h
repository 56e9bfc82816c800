#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "pipeline/memory/batch.h"
#include "pipeline/stats/bad_record.h"
#include "trainer/ranks/ranks.h"

namespace infeed {

// Compares the number of different bad records of all ranks together with
// max_bad_records, after each loop; each rank's own pipeline compares its own
// number after each batch.
//
// Only the bad records of batches that the devices have received count, in the
// stream's order: the result does not depend on how far pipelines are ahead, or
// on which rank read a record. Takes some 50 bytes on rank 0 for each different
// bad record.
//
// Note() from any thread, one at a time; the rest from one other thread.
class BadRecordsOfRanks {
 public:
  // most: different bad records, >= 0.
  explicit BadRecordsOfRanks(std::int64_t most) : most_(most) {}

  // This rank's pipeline read a bad record.
  void Note(const BadRecord& bad);

  // All ranks call it once they have used the batches before `reached`. Throws
  // DataError on every rank once there are more than `most` bad records, naming
  // the first one above the limit.
  void Meet(const StreamPosition& reached, Ranks& ranks);

 private:
  // A bad record, as it is sent to rank 0.
  struct Met {
    std::uint32_t epoch = 0;
    std::int64_t position = 0;
    int draw = 0;
    std::int64_t record = 0;
    std::string message;
  };

  [[nodiscard]] std::string TakeBefore(const StreamPosition& reached);
  // On rank 0: adds the bad records that the ranks sent. Returns the error;
  // empty: none.
  [[nodiscard]] std::string Enter(const std::vector<std::string>& messages);
  [[nodiscard]] static Met Parse(const std::string& text);

  const std::int64_t most_;
  std::unordered_set<std::int64_t> bad_;  // records; on rank 0 only
  std::mutex mutex_;                      // of noted_
  std::vector<Met> noted_;                // not sent yet
};

}  // namespace infeed
