#include <cstdint>
#include <iostream>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/print_lines.h"
#include "records/files/record_files.h"
#include "tools/cli/number_checks.h"
#include "tools/inspect/record_json.h"
#include "tools/inspect/record_selection.h"
#include "tools/records/command.h"
#include "tools/records/verbs.h"

namespace infeed {
namespace {

struct CatOptions {
  std::string records;  // a RecordSelection; "": all
  std::int64_t offset = 0;
  std::int64_t limit = -1;  // records to print; all when negative
  std::string keys;         // with commas between; "": all
  std::string bytes_to;
};

ProgramEnd CatRecords(const ShardPaths& shards, const CatOptions& options) {
  if (!options.bytes_to.empty()) {
    MakeFolder(options.bytes_to);
  }
  const RecordSelection selection = options.records.empty()
                                        ? RecordSelection(options.offset)
                                        : RecordSelection(options.records);
  const RecordJsonOptions json = {.keys = SplitAtCommas(options.keys),
                                  .bytes_to = options.bytes_to};
  std::int64_t bad = 0;
  ForEachSelected(
      shards, selection, options.limit,
      [&](const std::string& path, const Record& record) {
        std::cout << RecordJsonLine(path, record, json) << '\n';
      },
      [&](const DataError& error) {
        std::cout.flush();
        PrintLine(std::string("records: ") + error.what());
        ++bad;
      });
  return EndAfter(bad);
}

constexpr const char* kCatNotes =
    "Each line has a record's place and the features of its\n"
    "tf.train.Example. Bytes that are not text are shown as their length.\n"
    "Bad records are reported on stderr and give exit code 3. --record and\n"
    "--offset count over all shards, in their order.\n"
    "\n"
    "Examples:\n"
    "  records cat --limit 1 SHARDS/train-00000-of-00008\n"
    "  records cat --keys image/filename,image/class/label SHARDS\n"
    "  records cat --record 17,100-120 --bytes_to images SHARDS\n"
    "  records cat SHARDS | jq '.features[\"image/class/label\"]'\n";

}  // namespace

void AddCatVerb(CLI::App& app, Command& command) {
  const auto options = std::make_shared<CatOptions>();
  CLI::App* cat = AddVerb(app, command,
                          {.name = "cat",
                           .about = "Prints records as lines of JSON",
                           .more = kCatNotes},
                          [options](const ShardPaths& shards) {
                            return CatRecords(shards, *options);
                          });
  CLI::Option* offset =
      cat->add_option("--offset", options->offset, "Records to skip.")
          ->check(NonNegativeNumber());
  cat->add_option("--record", options->records,
                  "Numbers of the records to print, from 0, such as 3,10-12.")
      ->excludes(offset);
  cat->add_option("--limit", options->limit, "Records to print. [all]")
      ->check(NonNegativeNumber());
  cat->add_option("--keys", options->keys, "Features to print: A,B.");
  cat->add_option("--bytes_to", options->bytes_to,
                  "Folder for values that are not text, a file for each.")
      ->type_name("DIR");
}

}  // namespace infeed
