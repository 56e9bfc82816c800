#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "records/files/dataset_info.h"
#include "tools/cli/interruption.h"
#include "tools/rewrite/record_copier.h"
#include "tools/rewrite/record_sequence.h"
#include "tools/rewrite/record_stream.h"
#include "tools/rewrite/shard_rewriter.h"
#include "tools/shards/staged_folder.h"

namespace infeed {

// Rewrites the shards of one prefix: reads their lengths, plans the new shards,
// and writes them into a staged folder.
//
// One thread at a time. Throws what RewriteShards() throws.
class GroupRewriter {
 public:
  // folder: null if nothing is to be written. The arguments must outlive this
  // object.
  GroupRewriter(const std::string& prefix,
                const std::vector<std::string>& inputs,
                const RewriteOptions& options, const StagedFolder* folder,
                const Interruption& interruption);

  // Writes the new shards; without a folder, returns their names and records
  // only. Requires: called once.
  [[nodiscard]] std::vector<DatasetInfo::Shard> Write();
  // The number of bad records left out of the new shards.
  [[nodiscard]] std::int64_t left_out() const {
    return sequence_.left_out() + bad_.count();
  }

 private:
  RecordSequence ReadThrough(const std::vector<std::string>& inputs) const;
  void PlanByCut();
  void PlanByLabel();
  void AddShard(const std::string& name, const ShardRange& range);
  std::vector<DatasetInfo::Shard> Stream(const OnRecords& on_records);

  const std::string& prefix_;
  const RewriteOptions& options_;
  const StagedFolder* folder_;
  const Interruption& interruption_;
  BadRecords bad_;
  RecordSequence sequence_;
  std::vector<NewShard> shards_;
  // The record at a position of the new order.
  std::function<std::int64_t(std::int64_t)> record_at_;
};

}  // namespace infeed
