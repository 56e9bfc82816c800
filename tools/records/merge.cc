#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "base/parent_folder.h"
#include "records/bytes/plain_text.h"
#include "records/files/open_source.h"
#include "records/files/output_check.h"
#include "records/files/record_files.h"
#include "tools/records/command.h"
#include "tools/records/verbs.h"
#include "tools/rewrite/shard_rewriter.h"
#include "tools/rewrite/writing_options.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

// Whether a PATH is a list of single shards: no folder, no pattern.
bool NamesShards(const std::string& path, const ShardPaths& shards) {
  return std::ranges::all_of(DataPaths(path), [&](const std::string& part) {
    return std::ranges::find(
               shards, IsUrl(part)
                           ? part
                           : fs::path(part).lexically_normal().string()) !=
           shards.end();
  });
}

// Throws UsageError for an output that readers of a given folder or pattern
// would find beside the shards, each record twice.
void RefuseCopyBeside(const ShardPaths& shards, const Command& command,
                      const std::string& output) {
  const bool each_is_named = std::ranges::all_of(
      command.paths,
      [&](const std::string& path) { return NamesShards(path, shards); });
  if (each_is_named || !IsRecordFileName(BaseName(output))) {
    return;
  }
  ShardPaths inputs = shards;
  for (const std::string& path : command.paths) {
    for (const std::string& part : DataPaths(path)) {
      inputs.push_back(part + "/");  // Its shards may be in folders of splits.
    }
  }
  RefuseInputsIn({ParentFolder(output)}, "--output", inputs);
}

}  // namespace

void AddMergeVerb(CLI::App& app, Command& command) {
  const auto flags = std::make_shared<WritingOptions>();
  CLI::App* merge = AddVerb(
      app, command,
      {.name = "merge",
       .about = "Writes the records of many shards into one file",
       .more =
           "Records are in the order of the PATHs, those of a folder or a\n"
           "pattern by the shards' paths. The file appears under its name\n"
           "when it is complete, with an index file. Compressed shards are\n"
           "decompressed.\n"
           "\n"
           "Examples:\n"
           "  records merge SHARDS --output all.tfrecord\n"
           "  records merge 'SHARDS/train-*' --output "
           "s3://BUCKET/train.tfrecord\n"
           "  records merge --compression gzip SHARDS --output all.gz\n",
       .takes_tfrecords_only = true},
      [flags, &command](const ShardPaths& shards) {
        RefuseCopyBeside(shards, command, flags->output);
        return PutReportOf(*flags, [&](const Interruption& interruption) {
          return MergeReport(MergeShards(shards, *flags, interruption));
        });
      });
  AddWritingOptions(merge, *flags,
                    "File to write, or its URL at s3:// or gs://.");
  merge->get_option("--output")->type_name("FILE");
  AddBadRecordOption(merge, flags->skip_bad);
  AddJsonOption(merge, flags->json);
}

}  // namespace infeed
