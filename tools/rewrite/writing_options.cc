#include "tools/rewrite/writing_options.h"

#include <map>

#include <CLI/CLI.hpp>

namespace infeed {

void AddWritingOptions(CLI::App* verb, WritingOptions& options,
                       const std::string& what) {
  verb->add_option("--output", options.output, what)
      ->required()
      ->type_name("DIR");
  verb->add_flag("--overwrite", options.overwrite, "Replace existing output.");
  verb->add_flag("--dry_run", options.dry_run,
                 "Only print what would be written.");
  verb->add_option("--compression", options.compression,
                   "Compression of the shards that are written.")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, Compression>{{"none", Compression::kNone},
                                             {"gzip", Compression::kGzip},
                                             {"zlib", Compression::kZlib}}))
      ->option_text("none|gzip|zlib=none");
}

void AddBadRecordOption(CLI::App* verb, bool& skip_bad) {
  verb->add_option(
          "--on_bad_record", skip_bad,
          "Policy for a bad record: fail, or leave it out and count it (skip).")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, bool>{{"fail", false}, {"skip", true}}))
      ->option_text("fail|skip=fail");
}

}  // namespace infeed
