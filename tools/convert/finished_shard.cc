#include "tools/convert/finished_shard.h"

#include <filesystem>
#include <string_view>
#include <system_error>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/own_files.h"
#include "records/bytes/json.h"
#include "tools/shards/staged_folder.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
// For reading: nlohmann::ordered_json would search its keys one by one.
using ReadJson = nlohmann::json;

constexpr std::string_view kFormat = "infeed shard";
constexpr int kVersion = 1;
constexpr std::int64_t kMaxBytes = std::int64_t{256} << 20;

Json ToJson(const std::optional<std::int64_t>& number) {
  return number ? Json(*number) : Json();
}

std::vector<ImageNote> NotesFromJson(const ReadJson& list) {
  std::vector<ImageNote> notes;
  for (const ReadJson& note : list) {
    notes.push_back({note.at("path").get<std::string>(),
                     note.at("reason").get<std::string>()});
  }
  return notes;
}

FinishedShard FromJson(const ReadJson& json) {
  FinishedShard shard;
  shard.fingerprint = json.at("fingerprint").get<std::string>();
  shard.info.name = json.at("name").get<std::string>();
  shard.info.records = json.at("records").get<std::int64_t>();
  shard.info.bytes = json.at("bytes").get<std::int64_t>();
  shard.info.crc32c = json.at("crc32c").get<std::string>();
  shard.reencoded = NotesFromJson(json.at("reencoded"));
  shard.skipped = NotesFromJson(json.at("skipped"));
  if (const auto found = json.find("not_turned"); found != json.end()) {
    shard.not_turned = NotesFromJson(*found);
  }
  if (const auto found = json.find("seek_indexes");
      found != json.end() && !found->is_null()) {
    shard.seek_indexes = found->get<std::int64_t>();
  }
  shard.bad_image_policy = json.at("bad_image_policy").get<std::string>();
  shard.uploaded = json.at("uploaded").get<std::string>();
  return shard;
}

}  // namespace

void to_json(Json& json, const ImageNote& note) {
  json = {{"path", note.path}, {"reason", note.reason}};
}

std::string ConversionSideFolder(const std::string& output_dir) {
  return (fs::path(output_dir) / ".infeed").string();
}

std::string FinishedShardPath(const std::string& output_dir,
                              const std::string& name) {
  return (fs::path(ConversionSideFolder(output_dir)) /
          fs::path(name).filename().concat(kFinishedShardEnding))
      .string();
}

void WriteFinishedShard(const std::string& output_dir,
                        const FinishedShard& shard) {
  const Json json = {{"format", kFormat},
                     {"version", kVersion},
                     {"fingerprint", shard.fingerprint},
                     {"name", shard.info.name},
                     {"records", shard.info.records},
                     {"bytes", shard.info.bytes},
                     {"crc32c", shard.info.crc32c},
                     {"reencoded", shard.reencoded},
                     {"skipped", shard.skipped},
                     {"not_turned", shard.not_turned},
                     {"seek_indexes", ToJson(shard.seek_indexes)},
                     {"bad_image_policy", shard.bad_image_policy},
                     {"uploaded", shard.uploaded}};
  // File names may have any bytes; JSON is UTF-8.
  WriteFileAtomically(
      FinishedShardPath(output_dir, shard.info.name),
      json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n",
      kInOwnFolder);
}

std::optional<FinishedShard> ReadFinishedShard(const std::string& output_dir,
                                               const std::string& name) {
  const std::string path = FinishedShardPath(output_dir, name);
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    return std::nullopt;
  }
  try {
    const ReadJson json = ParseJson<ReadJson>(ReadWholeFile(path, kMaxBytes));
    if (json.at("format") != kFormat || json.at("version") != kVersion ||
        json.at("name") != name) {
      return std::nullopt;
    }
    return FromJson(json);
  } catch (const ReadJson::exception&) {
    return std::nullopt;
  }
}

}  // namespace infeed
