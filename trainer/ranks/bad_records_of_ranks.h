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

// Holds the different bad records that all ranks have met together against
// max_bad_records, from loop to loop; a rank's own pipeline holds the rank's
// own against it batch by batch.
//
// Only the bad records of batches that the devices have had count, in the
// stream's order: the result does not depend on how far pipelines are ahead,
// or on which rank met a record. Takes some 50 bytes on rank 0 for each
// different bad record.
//
// Note() from one thread at a time, whichever; the rest from one other.
class BadRecordsOfRanks {
 public:
  // most: different bad records, >= 0.
  explicit BadRecordsOfRanks(std::int64_t most) : most_(most) {}

  // This rank's pipeline met it.
  void Note(const BadRecord& bad);

  // All ranks call it when they have had the batches before `reached`. Throws
  // DataError on every rank once there are too many, naming the one that was
  // one too many.
  void Meet(const StreamPosition& reached, Ranks& ranks);

 private:
  // What one of them is to the other ranks.
  struct Met {
    std::uint32_t epoch = 0;
    std::int64_t position = 0;
    int draw = 0;
    std::int64_t record = 0;
    std::string message;
  };

  [[nodiscard]] std::string TakeBefore(const StreamPosition& reached);
  // On rank 0: enters what the ranks send. Returns the error; empty: none.
  [[nodiscard]] std::string Enter(const std::vector<std::string>& messages);
  [[nodiscard]] static Met Parse(const std::string& text);

  const std::int64_t most_;
  std::unordered_set<std::int64_t> bad_;  // records; rank 0's alone
  std::mutex mutex_;                      // of noted_
  std::vector<Met> noted_;                // not sent yet
};

}  // namespace infeed
