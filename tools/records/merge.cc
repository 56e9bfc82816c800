#include <memory>

#include <CLI/CLI.hpp>

#include "tools/records/command.h"
#include "tools/records/verbs.h"
#include "tools/rewrite/shard_rewriter.h"
#include "tools/rewrite/writing_options.h"

namespace infeed {
void AddMergeVerb(CLI::App& app, Command& command) {
  const auto flags = std::make_shared<WritingOptions>();
  CLI::App* merge = AddVerb(
      app, command,
      {.name = "merge",
       .about = "Writes the records of many shards into one file",
       .more =
           "Records are in the order of the shards' paths. The file appears\n"
           "under its name when it is complete, with an index file.\n"
           "Compressed shards are decompressed.\n"
           "\n"
           "Examples:\n"
           "  records merge SHARDS --output all.tfrecord\n"
           "  records merge 'SHARDS/train-*' --output "
           "s3://BUCKET/train.tfrecord\n"
           "  records merge --compression gzip SHARDS --output all.gz\n",
       .takes_tfrecords_only = true},
      [flags](const ShardPaths& shards) {
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
