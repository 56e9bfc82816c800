#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.h"
#include "base/print_lines.h"
#include "records/bytes/byte_size.h"
#include "records/example/imagenet_example.h"
#include "records/files/open_source.h"
#include "records/store/file_records.h"
#include "records/store/key_guess.h"
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

class HeadTable {
 public:
  explicit HeadTable(std::string label_key) : given_(std::move(label_key)) {}

  void Add(const std::string& path, const Record& record) {
    ImagenetExampleView example = Parse(record, given_);
    if (example.label < 0 && given_ == kLabelKey && IsGuessed(path)) {
      example = Parse(record, GuessKey(path, record));
    }
    table_.Add({FileNameOf(path), std::to_string(record.number),
                example.label >= 0 ? std::to_string(example.label) : "-",
                ShortText(example.text.empty() ? example.synset : example.text,
                          kLongestText),
                SizeText(example), FileSizeText(std::ssize(record.payload)),
                ShortText(example.filename, kLongestText)});
  }

  [[nodiscard]] std::string Text() const { return table_.Text(); }

 private:
  [[nodiscard]] static ImagenetExampleView Parse(const Record& record,
                                                 std::string_view label_key) {
    return ParseImagenetExample(record.payload, LabelList::kOne,
                                {.label = label_key});
  }

  // Whether labels of a shard may have other keys: those of archives have not.
  bool IsGuessed(const std::string& path) {
    if (path != shard_) {
      shard_ = path;
      is_guessed_ = DetectFormat(*OpenSource(path)) == RecordFormat::kTfrecord;
    }
    return is_guessed_;
  }

  // From the record alone: an index of the shard would read all of it.
  std::string GuessKey(const std::string& path, const Record& record) {
    try {
      return LabelKeyOf(record.payload, path);
    } catch (const UsageError& error) {  // Two fit: the others are shown.
      PrintLine(std::string("records: ") + error.what());
      is_guessed_ = false;
    }
    return given_;
  }

  std::string given_;
  std::string shard_;  // the last one with a record without the given key
  bool is_guessed_ = false;
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
