#include <cstdint>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "records/bytes/byte_size.h"
#include "tools/cli/number_checks.h"
#include "tools/records/command.h"
#include "tools/records/verbs.h"
#include "tools/rewrite/shard_rewriter.h"

namespace infeed {
namespace {

struct SplitFlags {
  RewriteOptions rewrite;
  std::int64_t records = 0;
  std::string bytes;
  std::int64_t parts = 0;
  bool by_label = false;
};

ShardCut MakeCut(const SplitFlags& flags) {
  if (flags.records > 0) {
    return {.kind = ShardCut::Kind::kRecordsEach, .value = flags.records};
  }
  if (!flags.bytes.empty()) {
    return {.kind = ShardCut::Kind::kBytesEach,
            .value = ParseByteSize(flags.bytes, "--bytes")};
  }
  return {.kind = ShardCut::Kind::kShards, .value = flags.parts};
}

ProgramEnd Split(const ShardPaths& shards, const SplitFlags& flags) {
  RewriteOptions options = flags.rewrite;
  options.cut = MakeCut(flags);
  options.order = flags.by_label ? RewriteOrder::kByLabel : RewriteOrder::kAsIs;
  return PutReportOf(options.writing, [&](const Interruption& interruption) {
    return RewriteReport(RewriteShards(shards, options, interruption));
  });
}

}  // namespace

void AddSplitVerb(CLI::App& app, Command& command) {
  const auto flags = std::make_shared<SplitFlags>();
  CLI::App* split = AddVerb(
      app, command,
      {.name = "split",
       .about = "Cuts a set of shards by records, bytes, parts or class",
       .more =
           "Parts are named PREFIX-NNNNN-of-NNNNN, those by class\n"
           "PREFIX-CLASS-00000-of-00001 with the folder's name of the class\n"
           "(image/class/synset), or label-N if there is none or it is a word\n"
           "for a split (val). Records stay in their order.\n"
           "Nothing appears in the output before all of it is written.\n"
           "\n"
           "Examples:\n"
           "  records split all.tfrecord --prefix train --output DIR --records "
           "1000\n"
           "  records split SHARDS --output DIR --bytes 100MB\n"
           "  records split 'SHARDS/train-*' --output DIR --parts 2\n"
           "  records split SHARDS --output DIR --by_label\n",
       .takes_tfrecords_only = true},
      [flags](const ShardPaths& shards) { return Split(shards, *flags); });
  AddRewriteOptions(split, flags->rewrite);
  CLI::Option_group* how = split->add_option_group("How", "one of these");
  how->add_option("--records", flags->records, "Records of each part.")
      ->check(PositiveNumber());
  how->add_option("--bytes", flags->bytes,
                  "Bytes of each part at most, such as 100MB.");
  how->add_option("--parts", flags->parts, "Parts of equal size.")
      ->check(PositiveNumber());
  how->add_flag("--by_label", flags->by_label, "Make one part for each class.");
  how->require_option(1);
}

}  // namespace infeed
