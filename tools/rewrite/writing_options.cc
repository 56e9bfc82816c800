#include "tools/rewrite/writing_options.h"

#include <CLI/CLI.hpp>

#include "tools/cli/help_text.h"

namespace infeed {

void AddWritingOptions(CLI::App* verb, WritingOptions& options,
                       const std::string& what) {
  verb->add_option("--output", options.output, what)
      ->required()
      ->type_name("DIR");
  verb->add_flag("--overwrite", options.overwrite, "Replace existing output.");
  verb->add_flag("--dry_run", options.dry_run,
                 "Only print what would be written.");
  AddChoice(*verb, "--compression", options.compression,
            Choices<Compression, 3>{{{"none", Compression::kNone},
                                     {"gzip", Compression::kGzip},
                                     {"zlib", Compression::kZlib}}},
            "Compression of the shards that are written.");
}

void AddBadRecordOption(CLI::App* verb, bool& skip_bad) {
  AddChoice(
      *verb, "--on_bad_record", skip_bad,
      Choices<bool, 2>{{{"fail", false}, {"skip", true}}},
      "Policy for a bad record: fail, or leave it out and count it (skip).");
}

}  // namespace infeed
