#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.h"
#include "base/print_lines.h"
#include "records/bytes/byte_size.h"
#include "records/example/imagenet_example.h"
#include "records/files/open_source.h"
#include "records/store/key_guess.h"
#include "records/store/record_index.h"
#include "tools/cli/number_checks.h"
#include "tools/cli/text_table.h"
#include "tools/inspect/record_json.h"
#include "tools/inspect/record_selection.h"
#include "tools/records/command.h"
#include "tools/records/verbs.h"

namespace infeed {
namespace {

constexpr std::size_t kLongestText = 32;

struct HeadOptions {
  std::int64_t records = 10;
  bool json = false;
  std::string label_key{kLabelKey};
};

std::string SizeText(const ImagenetExampleView& example) {
  return example.width > 0 && example.height > 0
             ? fmt::format("{}x{}", example.width, example.height)
             : "-";
}

// The key of a shard's labels; the given one if it cannot be found.
std::string FindLabelKeyOf(const std::string& path, const std::string& given) {
  try {
    return FindLabelKey(RecordIndex({path}), given);
  } catch (const DataError&) {  // The damage is reported when it is read.
  } catch (const UsageError& error) {  // Two fit: the other columns are shown.
    PrintLine(std::string("records: ") + error.what());
  }
  return given;
}

class HeadTable {
 public:
  explicit HeadTable(std::string label_key)
      : given_(std::move(label_key)), key_(given_) {}

  void Add(const std::string& path, const Record& record) {
    ImagenetExampleView example = Parse(record);
    // A search reads the shard's index, so it is only made if it is needed.
    if (example.label < 0 && path != searched_) {
      searched_ = path;
      key_ = FindLabelKeyOf(path, given_);
      example = Parse(record);
    }
    table_.Add({FileNameOf(path), std::to_string(record.number),
                example.label >= 0 ? std::to_string(example.label) : "-",
                ShortText(example.text.empty() ? example.synset : example.text,
                          kLongestText),
                SizeText(example),
                FileSizeText(static_cast<std::int64_t>(record.payload.size())),
                ShortText(example.filename, kLongestText)});
  }

  [[nodiscard]] std::string Text() const { return table_.Text(); }

 private:
  [[nodiscard]] ImagenetExampleView Parse(const Record& record) const {
    return ParseImagenetExample(record.payload, LabelList::kOne,
                                {.label = key_});
  }

  std::string given_;
  std::string key_;
  std::string searched_;  // the shard for which key_ was searched
  TextTable table_{
      {"shard", ">record", ">label", "text", ">size", ">bytes", "filename"}};
};

ProgramEnd ShowHead(const ShardPaths& shards, const HeadOptions& options) {
  HeadTable table(options.label_key);
  std::int64_t bad = 0;
  ForEachSelected(
      shards, RecordSelection(), options.records,
      [&](const std::string& path, const Record& record) {
        if (options.json) {
          std::cout << RecordJsonLine(path, record) << '\n';
        } else {
          table.Add(path, record);
        }
      },
      [&](const DataError& error) {
        PrintLine(std::string("records: ") + error.what());
        ++bad;
      });
  std::cout << (options.json ? "" : table.Text());
  return EndAfter(bad);
}

}  // namespace

void AddHeadVerb(CLI::App& app, Command& command) {
  const auto options = std::make_shared<HeadOptions>();
  CLI::App* head =
      AddVerb(app, command,
              {.name = "head",
               .about = "Shows the first records as a table",
               .more = "Sizes are those in image/width and image/height.\n"
                       "\n"
                       "Examples:\n"
                       "  records head SHARDS\n"
                       "  records head -n 3 --json SHARDS\n"},
              [options](const ShardPaths& shards) {
                return ShowHead(shards, *options);
              });
  head->add_option("-n,--records", options->records, "Records to show. [10]")
      ->check(NonNegativeNumber());
  head->add_option("--label_key", options->label_key,
                   "Key of the label. [found]");
  head->add_flag("--json", options->json, "Print lines of JSON, as cat does.");
}

}  // namespace infeed
