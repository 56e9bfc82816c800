#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.h"
#include "base/print_lines.h"
#include "records/bytes/byte_size.h"
#include "records/example/imagenet_example.h"
#include "records/files/open_source.h"
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
};

std::string SizeText(const ImagenetExampleView& example) {
  return example.width > 0 && example.height > 0
             ? fmt::format("{}x{}", example.width, example.height)
             : "-";
}

void AddRow(const std::string& path, const Record& record, TextTable& table) {
  const ImagenetExampleView example = ParseImagenetExample(record.payload);
  table.Add({FileNameOf(path), std::to_string(record.number),
             example.label >= 0 ? std::to_string(example.label) : "-",
             ShortText(example.text.empty() ? example.synset : example.text,
                       kLongestText),
             SizeText(example),
             FileSizeText(static_cast<std::int64_t>(record.payload.size())),
             ShortText(example.filename, kLongestText)});
}

ProgramEnd ShowHead(const ShardPaths& shards, const HeadOptions& options) {
  TextTable table(
      {"shard", ">record", ">label", "text", ">size", ">bytes", "filename"});
  std::int64_t bad = 0;
  ForEachSelected(
      shards, RecordSelection(), options.records,
      [&](const std::string& path, const Record& record) {
        if (options.json) {
          std::cout << RecordJsonLine(path, record) << '\n';
        } else {
          AddRow(path, record, table);
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
  head->add_flag("--json", options->json, "Print lines of JSON, as cat does.");
}

}  // namespace infeed
