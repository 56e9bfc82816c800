#include <cstdint>
#include <iostream>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "base/print_lines.h"
#include "records/example/imagenet_example.h"
#include "tools/cli/number_checks.h"
#include "tools/inspect/head_table.h"
#include "tools/inspect/record_json.h"
#include "tools/inspect/record_selection.h"
#include "tools/records/command.h"
#include "tools/records/verbs.h"

namespace infeed {
namespace {

struct HeadOptions {
  std::int64_t records = 10;
  bool json = false;
  std::string label_key{kLabelKey};
};

ProgramEnd ShowHead(const ShardPaths& shards, const HeadOptions& options) {
  HeadTable table(options.label_key, [](const std::string& note) {
    PrintLine("records: " + note);
  });
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
               .more = "Sizes are those in image/width and image/height. Of\n"
                       "records without images the features are shown.\n"
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
