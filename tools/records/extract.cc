#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "tools/cli/number_checks.h"
#include "tools/inspect/extraction.h"
#include "tools/records/command.h"
#include "tools/records/verbs.h"

namespace infeed {
namespace {

ProgramEnd Extract(const ShardPaths& shards, const std::string& json,
                   ExtractOptions options) {
  options.keys = KeysIn(shards, options.keys);
  const Extraction extraction =
      ExtractImages(shards, options, BadRecordsPrinter(shards));
  PutReport(json, ExtractionReport(extraction));
  return EndAfter(extraction.bad);
}

constexpr const char* kExtractNotes =
    "Writes OUTPUT/CLASS/NAME: the class's synset, else its label, and the\n"
    "record's image/filename, else SHARD-RECORD.jpg. Images are not changed;\n"
    "packed pixels become PNGs. Of several records with one name all but the\n"
    "first get -2, -3, ... Bad records are reported on stderr and give exit\n"
    "code 3. Shards are read twice: names are planned first.\n"
    "\n"
    "Examples:\n"
    "  records extract --output images SHARDS\n"
    "  records extract --output images --split --resume SHARDS\n";

}  // namespace

void AddExtractVerb(CLI::App& app, Command& command) {
  const auto options = std::make_shared<ExtractOptions>();
  CLI::App* extract =
      AddVerb(app, command,
              {.name = "extract",
               .about = "Writes the images back to folders of classes",
               .more = kExtractNotes},
              [options, &command](const ShardPaths& shards) {
                return Extract(shards, command.json, *options);
              });
  extract
      ->add_option("--output", options->output,
                   "Folder to write to, new or empty.")
      ->required()
      ->type_name("DIR");
  extract->add_flag("--split", options->split,
                    "Make a folder for each split: train, validation, test.");
  extract->add_flag("--resume", options->resume,
                    "Skip files that exist with the right size.");
  extract
      ->add_option("--limit", options->limit,
                   "Records to read, from the first. [all]")
      ->check(NonNegativeNumber());
  AddKeyOptions(extract, options->keys);
  AddJsonOption(extract, command.json);
  AddThreadsOption(extract, options->threads);
}

}  // namespace infeed
