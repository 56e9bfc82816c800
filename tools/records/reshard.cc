#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "records/bytes/byte_size.h"
#include "tools/cli/help_text.h"
#include "tools/records/command.h"
#include "tools/records/verbs.h"
#include "tools/rewrite/shard_rewriter.h"

namespace infeed {
namespace {

struct ReshardFlags {
  RewriteOptions rewrite;
  std::string shards = "auto";
  bool balance_bytes = false;
};

ProgramEnd Reshard(const ShardPaths& shards, const ReshardFlags& flags,
                   bool has_seed) {
  RewriteOptions options = flags.rewrite;
  if (has_seed && options.order != RewriteOrder::kShuffled) {
    throw UsageError("--seed needs --shuffle global: give both");
  }
  options.cut = ParseShardCut(flags.shards);
  options.cut.balance_bytes = flags.balance_bytes;
  return PutReportOf(options.writing, [&](const Interruption& interruption) {
    return RewriteReport(RewriteShards(shards, options, interruption));
  });
}

void AddOrderOptions(CLI::App* verb, ReshardFlags& flags) {
  verb->add_option("--shards", flags.shards,
                   "Shards of each prefix: a number, a size such as 128MB, or "
                   "auto (about 128 MB each).")
      ->capture_default_str();
  AddChoice(*verb, "--balance", flags.balance_bytes,
            Choices<bool, 2>{{{"records", false}, {"bytes", true}}},
            "Make shards of equal numbers of records, or of bytes.");
  AddChoice(*verb, "--shuffle", flags.rewrite.order,
            Choices<RewriteOrder, 2>{{{"none", RewriteOrder::kAsIs},
                                      {"global", RewriteOrder::kShuffled}}},
            "Shuffle the records: none, or global, within their prefix.");
}

}  // namespace

void AddRewriteOptions(CLI::App* verb, RewriteOptions& options) {
  AddWritingOptions(verb, options.writing,
                    "Folder for the new shards, or its URL at s3:// or gs://.");
  verb->add_option(
      "--prefix", options.prefix,
      "Prefix of the new shards, where the input's names have none.");
  AddBadRecordOption(verb, options.writing.skip_bad);
  AddJsonOption(verb, options.writing.json);
  AddThreadsOption(verb, options.writing.threads);
  verb->add_option_function<std::string>(
          "--memory_limit",
          [&options](const std::string& text) {
            options.memory_limit = ParseByteSize(text, "--memory_limit");
          },
          "Memory for the index and the records being copied.")
      ->default_str("256MiB");
}

void AddReshardVerb(CLI::App& app, Command& command) {
  const auto flags = std::make_shared<ReshardFlags>();
  const auto seed = std::make_shared<CLI::Option*>(nullptr);
  CLI::App* reshard = AddVerb(
      app, command,
      {.name = "reshard",
       .about = "Writes a set of shards as more, fewer, or shuffled ones",
       .more =
           "Shards of each prefix (train, validation, test, ...) are taken as\n"
           "one sequence and cut into new ones, never more than there are\n"
           "records, with their index files and a dataset.json. Nothing\n"
           "appears in the output before all of it is written. The result is\n"
           "the same for any --threads and --memory_limit. Shuffling gzip or\n"
           "zlib shards needs space for a plain copy in DIR/.infeed/tmp.\n"
           "Each new shard is printed with its number of records.\n"
           "\n"
           "Examples:\n"
           "  records reshard SHARDS --output NEW --shards 64\n"
           "  records reshard SHARDS --output NEW --shards 200MB --balance "
           "bytes\n"
           "  records reshard 'SHARDS/train-*' --output NEW --shuffle global "
           "--seed 7\n"
           "  records reshard PACKED --output NEW      (gzip to plain)\n",
       .takes_tfrecords_only = true},
      [flags, seed](const ShardPaths& shards) {
        return Reshard(shards, *flags, (*seed)->count() > 0);
      });
  AddRewriteOptions(reshard, flags->rewrite);
  AddOrderOptions(reshard, *flags);
  *seed = reshard
              ->add_option(
                  "--seed", flags->rewrite.seed,
                  "Seed of the shuffle: the same seed gives the same order.")
              ->capture_default_str();
}

}  // namespace infeed
