#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "records/files/dataset_info.h"
#include "tools/convert/converter.h"

// The side file of each finished shard, with which the next conversion resumes:
// OUT/.infeed/NAME.shard.json.
namespace infeed {

void to_json(nlohmann::ordered_json& json, const ImageNote& note);

struct FinishedShard {
  std::string fingerprint;  // of the shard's sources
  DatasetInfo::Shard info;
  std::vector<ImageNote> reencoded;  // in the order of the records
  std::vector<ImageNote> skipped;
  std::vector<ImageNote> not_turned = {};  // by EXIF data
  // Number of records with one; nullopt: no indexes were requested.
  std::optional<std::int64_t> seek_indexes = {};
  // The policy for bad images; empty if there were none, so that every policy
  // makes the same shard.
  std::string bad_image_policy = {};
  std::string uploaded = {};  // object of its upload; empty: none
};

// The folder of the side files of a conversion into output_dir.
[[nodiscard]] std::string ConversionSideFolder(const std::string& output_dir);

// The side file of a shard, given its name relative to the output folder.
[[nodiscard]] std::string FinishedShardPath(const std::string& output_dir,
                                            const std::string& name);

// Writes the side file of shard.info.name atomically. Requires: the shard is on
// disk, and the side folder exists. Throws IoError.
void WriteFinishedShard(const std::string& output_dir,
                        const FinishedShard& shard);

// Reads a side file; nullopt if it is missing or damaged: the shard is then
// made again. Throws IoError when it cannot be read.
[[nodiscard]] std::optional<FinishedShard> ReadFinishedShard(
    const std::string& output_dir, const std::string& name);

}  // namespace infeed
