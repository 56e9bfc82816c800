#include <algorithm>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "records/example_reader.h"
#include "records/tfrecord_reader.h"
#include "tools/records_command.h"
#include "tools/records_verbs.h"

namespace infeed {
namespace {

struct CatOptions {
  std::int64_t limit = -1;  // records to print; all when negative
};

using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestText = 256;

// Whether bytes may be shown as they are: short UTF-8 without control
// characters.
bool IsText(std::string_view bytes) {
  if (bytes.size() > kLongestText) {
    return false;
  }
  int following = 0;  // bytes of a character that are still to come
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    if ((value >> 6 == 0b10) != (following > 0)) {
      return false;
    }
    if (following > 0) {
      --following;
    } else if (value >= 0xF0) {
      following = 3;
    } else if (value >= 0xE0) {
      following = 2;
    } else if (value >= 0xC0) {
      following = 1;
    } else if (value < 0x20 || value == 0x7F) {
      return false;
    }
  }
  return following == 0;
}

Json ToJson(std::string_view bytes) {
  return IsText(bytes) ? Json(bytes) : Json{{"bytes", bytes.size()}};
}
Json ToJson(float value) { return value; }
Json ToJson(std::int64_t value) { return value; }
Json ToJson(std::monostate /*none*/) { return nullptr; }

// A list of one value as that value.
template <typename T>
Json ToJson(const std::vector<T>& values) {
  if (values.size() == 1) {
    return ToJson(values.front());
  }
  Json list = Json::array();
  for (const T& value : values) {
    list.push_back(ToJson(value));
  }
  return list;
}

Json FeaturesToJson(std::span<const std::byte> payload) {
  Json features = Json::object();
  for (const ExampleFeature& feature : ListFeatures(payload)) {
    features[std::string(feature.key)] = std::visit(
        [](const auto& values) { return ToJson(values); }, feature.values);
  }
  return features;
}

std::string JsonLine(const std::string& path, const Record& record) {
  Json line = {{"file", path},
               {"record", record.number},
               {"offset", record.offset},
               {"bytes", record.payload.size()},
               {"features", FeaturesToJson(record.payload)}};
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void WarnOf(const DataError& error) {
  std::cout.flush();
  std::cerr << "records: " << error.what() << std::endl;
}

// Prints up to `limit` records of one shard, and returns how many were bad.
std::int64_t CatShard(const std::string& path, std::int64_t& limit) {
  TfrecordReader reader(path);
  std::int64_t bad = 0;
  while (limit != 0) {
    std::optional<Record> record;
    try {
      record = reader.Next();
      if (!record) {
        break;
      }
      std::cout << JsonLine(path, *record) << '\n';
    } catch (const DataError& error) {
      WarnOf(record ? error.At({path, record->number, record->offset}) : error);
      ++bad;
    }
    limit = std::max<std::int64_t>(limit - 1, -1);
  }
  return bad;
}

ExitCode CatRecords(const ShardPaths& shards, const CatOptions& options) {
  std::int64_t limit = std::max<std::int64_t>(options.limit, -1);
  std::int64_t bad = 0;
  for (const std::string& path : shards) {
    bad += CatShard(path, limit);
  }
  return bad > 0 ? ExitCode::kDataError : ExitCode::kDone;
}

}  // namespace

void AddCatVerb(CLI::App& app, Command& command) {
  const auto options = std::make_shared<CatOptions>();
  CLI::App* cat = AddVerb(
      app, command,
      {.name = "cat",
       .about = "Prints records as lines of JSON",
       .more =
           "A line says where the record is and what the features of its\n"
           "tf.train.Example are. Bytes that are not text are shown as their\n"
           "length. Bad records are reported on stderr, and make the exit "
           "code 3.\n"
           "\n"
           "Examples:\n"
           "  records cat --limit 1 SHARDS/train-00000-of-00008\n"
           "  records cat SHARDS | jq '.features[\"image/class/label\"]'\n"},
      [options](const ShardPaths& shards) {
        return CatRecords(shards, *options);
      });
  cat->add_option("--limit", options->limit, "print so many records [all]")
      ->check(CLI::NonNegativeNumber);
}

}  // namespace infeed
