#include "records/files/dataset_info.h"

#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/own_files.h"
#include "base/parent_folder.h"
#include "records/bytes/json.h"
#include "records/bytes/plain_text.h"
#include "records/files/class_list.h"
#include "records/files/open_sink.h"
#include "records/files/open_source.h"
#include "records/files/record_files.h"
#include "records/files/split_names.h"
#include "records/files/text_lines.h"

namespace infeed {
namespace {

using Json = nlohmann::ordered_json;
// Not ordered_json, which searches its keys one by one: others write the files
// that are read.
using ReadJson = nlohmann::json;

constexpr std::string_view kFormat = "infeed dataset";
constexpr int kVersion = 1;
constexpr std::int64_t kMaxInfoBytes = std::int64_t{256} << 20;
constexpr int kIndent = 2;

std::string PathOf(const std::string& data_dir) {
  return (std::filesystem::path(data_dir) / "dataset.json").string();
}

Json ToJson(const DatasetInfo::Split& split) {
  Json shards = Json::array();
  for (const DatasetInfo::Shard& shard : split.shards) {
    shards.push_back({{"name", shard.name},
                      {"records", shard.records},
                      {"bytes", shard.bytes},
                      {"crc32c", shard.crc32c}});
  }
  return {{"name", split.name},
          {"records", split.records},
          {"shards", std::move(shards)}};
}

std::int64_t CountIn(const ReadJson& object, const char* key) {
  const auto count = object.at(key).get<std::int64_t>();
  if (count < 0) {
    throw DataError(std::string("'") + key +
                    "' is negative: " + std::to_string(count));
  }
  return count;
}

DatasetInfo::Split SplitFromJson(const ReadJson& json) {
  DatasetInfo::Split split = {.name = json.at("name").get<std::string>(),
                              .records = CountIn(json, "records"),
                              .shards = {}};
  for (const ReadJson& shard : json.at("shards")) {
    split.shards.push_back({.name = shard.at("name").get<std::string>(),
                            .records = CountIn(shard, "records"),
                            .bytes = CountIn(shard, "bytes"),
                            .crc32c = shard.at("crc32c").get<std::string>()});
  }
  return split;
}

std::optional<int> FirstLabelIn(const ReadJson& json, bool has_classes) {
  const auto found = json.find("first_label");
  if (found == json.end()) {
    return has_classes ? std::optional(1) : std::nullopt;
  }
  const int label = found->get<int>();
  if (label != 0 && label != 1) {
    throw DataError("'first_label' is " + std::to_string(label) +
                    ", expected 0 or 1");
  }
  return label;
}

DatasetInfo FromJson(const ReadJson& json) {
  if (json.at("format").get<std::string>() != kFormat ||
      json.at("version").get<int>() != kVersion) {
    throw DataError("expected the format '" + std::string(kFormat) +
                    "', version " + std::to_string(kVersion) + ", found " +
                    json.at("format").dump() + ", version " +
                    json.at("version").dump());
  }
  DatasetInfo info;
  info.seed = json.at("seed").get<std::uint64_t>();
  info.classes = json.at("classes").get<std::vector<std::string>>();
  CheckClassCount(info.classes.size());
  for (std::string& name : info.classes) {
    CheckClassName(name);
    name = NameText(name);  // As labels.txt: of any age, by any tool.
  }
  info.first_label = FirstLabelIn(json, !info.classes.empty());
  for (const ReadJson& split : json.at("splits")) {
    info.splits.push_back(SplitFromJson(split));
  }
  return info;
}

constexpr std::int64_t kMaxUnfinishedBytes = std::int64_t{64} << 20;

std::string UnfinishedPath(const std::string& data_dir) {
  return (std::filesystem::path(data_dir) / ".infeed/unfinished").string();
}

}  // namespace

void WriteDatasetInfo(const std::string& data_dir, const DatasetInfo& info) {
  Json splits = Json::array();
  for (const DatasetInfo::Split& split : info.splits) {
    splits.push_back(ToJson(split));
  }
  Json json = {{"format", kFormat},
               {"version", kVersion},
               {"seed", info.seed},
               {"classes", info.classes}};
  if (info.first_label) {
    json["first_label"] = *info.first_label;
  }
  json["splits"] = std::move(splits);
  // Folder names may have any bytes; JSON must be UTF-8.
  const std::string text =
      json.dump(kIndent, ' ', false, Json::error_handler_t::replace);
  const std::unique_ptr<ByteSink> sink = OpenSink(PathOf(data_dir));
  sink->Write(text + "\n");
  sink->Commit();
}

std::optional<DatasetInfo> ReadDatasetInfo(const std::string& data_dir) {
  const std::string path = PathOf(data_dir);
  const std::optional<std::string> text = ReadWholeIfThere(path, kMaxInfoBytes);
  if (!text) {
    return std::nullopt;
  }
  try {
    return FromJson(ParseJson<ReadJson>(*text));
  } catch (const Json::exception& error) {
    throw DataError({.path = path}, std::string("not a data set's "
                                                "description: ") +
                                        JsonFault(error));
  } catch (const DataError& error) {
    throw error.At({.path = path});
  }
}

std::vector<std::string> DatasetFolders(const std::string& shard) {
  std::vector<std::string> folders = {ParentFolder(PathForMessages(shard))};
  const std::string own = std::filesystem::path(folders.front()).filename();
  if (!SplitNamed(own).empty()) {
    folders.push_back(ParentFolder(folders.front()));
  }
  return folders;
}

std::vector<std::string> FindClassList(const std::string& shard) {
  for (const std::string& folder : DatasetFolders(shard)) {
    const std::string path = folder + "/labels.txt";
    if (std::vector<std::string> names = ReadClassList(path); !names.empty()) {
      CheckClassLines(path, names);
      return names;
    }
  }
  return {};
}

std::optional<DatasetInfo> FindDatasetInfo(const std::string& shard) {
  for (const std::string& folder : DatasetFolders(shard)) {
    if (std::optional<DatasetInfo> info = ReadDatasetInfo(folder)) {
      return info;
    }
  }
  return std::nullopt;
}

void WriteUnfinished(const std::string& data_dir,
                     const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text.append(name).append("\n");
  }
  WriteFileAtomically(UnfinishedPath(data_dir), text, kInOwnFolder);
}

void RemoveUnfinished(const std::string& data_dir) {
  RemoveFile(UnfinishedPath(data_dir));
}

std::vector<std::string> ReadUnfinished(const std::string& data_dir) {
  std::vector<std::string> names;
  const std::string path = UnfinishedPath(data_dir);
  std::error_code ignored;
  if (IsUrl(data_dir) || !std::filesystem::exists(path, ignored)) {
    return names;
  }
  std::string text;
  try {
    text = ReadWholeFile(path, kMaxUnfinishedBytes);
  } catch (const IoError&) {  // Of another user, who may read it.
    return names;
  }
  for (std::string& name : Lines(text)) {
    if (IsRecordFileName(BaseName(name))) {
      names.push_back(std::move(name));
    }
  }
  return names;
}

}  // namespace infeed
