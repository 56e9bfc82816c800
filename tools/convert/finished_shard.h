#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "records/files/dataset_info.h"

// What a conversion leaves beside each shard that it finished, so that the next
// one can go on there: OUT/.infeed/NAME.shard.json.
namespace infeed {

// An image of which a conversion tells something.
struct ImageNote {
  std::string path;
  std::string reason;

  friend bool operator==(const ImageNote&, const ImageNote&) = default;
};

struct FinishedShard {
  std::string fingerprint;  // of what it was made from
  DatasetInfo::Shard info;
  std::vector<ImageNote> reencoded;  // in the order of the records
  std::vector<ImageNote> skipped;
  std::vector<ImageNote> not_turned = {};  // as their EXIF data says
  // Records that have one; nullopt: none were to be made.
  std::optional<std::int64_t> seek_indexes = {};
  // What was done with bad images; empty where there were none, so that any
  // policy would have made the same shard.
  std::string bad_image_policy = {};
  std::string uploaded = {};  // the object that it was uploaded to; empty: none
};

// The folder of the side files of a conversion into output_dir.
[[nodiscard]] std::string ConversionSideFolder(const std::string& output_dir);

// The side file of a shard, by its name relative to the output folder.
[[nodiscard]] std::string FinishedShardPath(const std::string& output_dir,
                                            const std::string& name);

// Writes the side file of shard.info.name whole. Requires: the shard is on
// disk, and the side folder is there. Throws IoError.
void WriteFinishedShard(const std::string& output_dir,
                        const FinishedShard& shard);

// Reads a side file; nullopt when there is none, or when it is damaged: then
// the shard is made anew. Throws IoError when it cannot be read.
[[nodiscard]] std::optional<FinishedShard> ReadFinishedShard(
    const std::string& output_dir, const std::string& name);

}  // namespace infeed
