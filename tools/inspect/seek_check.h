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

// Checks the seek indexes of records, in their Examples and in the seek files
// beside the shards. A wrong index changes no pixels, it only fails to save
// time: its record is still good.
//
// The paths must outlive it. Thread-safe.
class SeekCheck {
 public:
  // remake: make each index again from its JPEG and compare; if false only its
  // seal is checked, which is nearly free.
  SeekCheck(const std::vector<std::string>& paths, bool remake)
      : paths_(paths), remake_(remake), shards_(paths.size()) {}

  // Opens the seek file of a shard of that size, if there is one. Requires: no
  // record of the shard was checked yet.
  void Open(std::size_t shard, std::int64_t shard_size);

  // Checks the index of a record, if it has one.
  void CheckRecord(std::size_t shard, const Record& record,
                   const ImagenetExampleView& example);

  // The records with a wrong index, in file order. records: the shard's number
  // of records. If records were lost, or the seek file has another number of
  // entries (those of one split of an archive), record numbers do not match the
  // seek file and no reader uses it: then only the indexes in Examples are
  // reported. Requires: all records were checked.
  [[nodiscard]] std::vector<DamagedRecord> Take(std::size_t shard,
                                                std::int64_t records,
                                                bool records_are_lost);

 private:
  struct Finding {
    DamagedRecord record;
    bool is_beside = false;  // the index is from the seek file
  };
  struct Shard {
    std::unique_ptr<const SeekFile> file;
    std::vector<Finding> findings;
  };
  // Returns the fault of an index; "": none.
  [[nodiscard]] std::string Fault(std::span<const std::byte> sealed,
                                  std::span<const std::byte> jpeg) const;

  const std::vector<std::string>& paths_;
  const bool remake_;
  std::mutex mutex_;
  std::vector<Shard> shards_;  // mutex_ guards the findings
};

}  // namespace infeed
