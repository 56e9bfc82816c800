#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "records/files/open_source.h"
#include "records/store/record_index.h"
#include "records/tfrecord/index_file.h"
#include "tests/support/temporary_folder.h"

namespace infeed {

// Shards of any number of records with valid index files, but without data: the
// shards are holes of the right size. For code that never reads a record.
class MadeIndexFiles {
 public:
  // The first shards have one more where shards do not divide records.
  MadeIndexFiles(std::int64_t records, std::int64_t shards) {
    for (std::int64_t shard = 0; shard < shards; ++shard) {
      Make("train-" + std::to_string(shard),
           records / shards + (shard < records % shards ? 1 : 0));
    }
  }

  [[nodiscard]] const std::vector<std::string>& shards() const {
    return shards_;
  }
  [[nodiscard]] RecordIndex Index() const { return RecordIndex(shards_); }

 private:
  void Make(const std::string& name, std::int64_t records) {
    ShardFrames frames;
    for (std::int64_t i = 0; i < records; ++i) {
      frames.offsets.push_back(frames.stream_bytes);
      frames.stream_bytes += 100'000 + i * 7919 % 20'000;
    }
    shards_.push_back(folder_ / name);
    std::ofstream(shards_.back()).close();
    std::filesystem::resize_file(
        shards_.back(), static_cast<std::uintmax_t>(frames.stream_bytes));
    (void)SaveFrames(*OpenSource(shards_.back()), frames);
  }

  TemporaryFolder folder_;
  std::vector<std::string> shards_;
};

}  // namespace infeed
