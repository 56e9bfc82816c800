#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "records/example/imagenet_example.h"
#include "records/store/seek_file.h"
#include "records/tfrecord/reader.h"
#include "tools/shards/record_pass.h"

namespace infeed {

// Checks the seek indexes of records, those in their Examples and those in the
// seek files beside the shards. A wrong one costs no pixels, only the time that
// it was to save: the record is good all the same.
//
// The paths must outlive it. Thread-safe.
class SeekCheck {
 public:
  // remake: whether each index is made anew from its JPEG and compared;
  // otherwise only its seal is checked, which is nearly free.
  SeekCheck(const std::vector<std::string>& paths, bool remake)
      : paths_(paths), remake_(remake), shards_(paths.size()) {}

  // Takes the seek file of a shard of that size, if there is one. Requires:
  // no record of the shard was looked at.
  void Open(std::size_t shard, std::int64_t shard_size);

  // Looks at the index of a record, if it has one.
  void Look(std::size_t shard, const Record& record,
            const ImagenetExampleView& example);

  // The records with an index that is wrong, in the order of the file. Where
  // records were lost, numbers are no longer those of the seek file: then only
  // what the Examples hold counts. Requires: all records were looked at.
  [[nodiscard]] std::vector<DamagedRecord> Take(std::size_t shard,
                                                bool records_are_lost);

 private:
  struct Finding {
    DamagedRecord record;
    bool is_beside = false;  // the index is the seek file's
  };
  struct Shard {
    std::unique_ptr<const SeekFile> file;
    std::vector<Finding> findings;
  };
  // Returns what is wrong with an index; "" nothing.
  [[nodiscard]] std::string Fault(std::span<const std::byte> sealed,
                                  std::span<const std::byte> jpeg) const;

  const std::vector<std::string>& paths_;
  const bool remake_;
  std::mutex mutex_;
  std::vector<Shard> shards_;  // findings under mutex_
};

}  // namespace infeed
