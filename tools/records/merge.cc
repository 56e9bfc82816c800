#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/count_text.h"
#include "base/error.h"
#include "base/shown_text.h"
#include "records/files/open_source.h"
#include "records/files/output_check.h"
#include "records/files/shards.h"
#include "records/tfrecord/writer.h"
#include "tools/cli/interruption.h"
#include "tools/records/command.h"
#include "tools/records/verbs.h"
#include "tools/rewrite/record_sequence.h"
#include "tools/rewrite/record_stream.h"
#include "tools/rewrite/writing_options.h"
#include "tools/shards/progress.h"
#include "tools/shards/staged_folder.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

struct MergeFlags {
  WritingOptions writing;
  bool skip_bad = false;
};

struct Place {
  std::string folder;
  std::string name;
};

// Splits a path or a URL.
Place SplitPath(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  Place place = slash == std::string::npos
                    ? Place{".", path}
                    : Place{slash == 0 ? "/" : path.substr(0, slash),
                            path.substr(slash + 1)};
  if (place.name.empty()) {
    throw UsageError("--output " + path + ": give a file, not a folder");
  }
  return place;
}

void RefuseInputs(const ShardPaths& shards, const std::string& output,
                  const Place& place) {
  CheckOutputs({{"--output", output, true}}, shards);
  // Readers of that folder would read every record twice.
  if (IsShardName(place.name)) {
    RefuseInputsIn({place.folder}, "--output", shards);
  }
}

ExitCode SayWhat(const ShardPaths& shards, const MergeFlags& flags) {
  ShardProgress progress(shards);
  const RecordSequence sequence(shards,
                                {.any_order = false,
                                 .skip_bad = flags.skip_bad,
                                 .open = progress.Opener(),
                                 .on_record = [&] { progress.AddRecords(1); },
                                 .folder = nullptr,
                                 .scratch_name = {}});
  std::cout << fmt::format(
      "would write {} of {} to {}\n", CountText(sequence.size(), "record"),
      CountText(shards.size(), "shard"), ShownText(flags.writing.output));
  return ExitCode::kDone;
}

ExitCode Write(const ShardPaths& shards, const MergeFlags& flags,
               const Place& place, const Interruption& interruption) {
  const std::string& output = flags.writing.output;
  BadRecords bad(flags.skip_bad);
  StagedFolder folder(place.folder);
  TfrecordWriter writer(
      folder.PathFor(place.name),
      {.compression = flags.writing.compression, .write_index = true});
  {
    ShardProgress progress(shards);
    RecordStream stream(shards.size(), progress.Opener(), bad);
    while (const std::optional<Record> record = stream.Next()) {
      interruption.Check();
      writer.Append(record->payload);
      progress.AddRecords(1);
    }
  }
  writer.Close();
  folder.Commit({});
  std::cout << fmt::format("{} in {}, {} bad left out\n",
                           CountText(writer.records(), "record"),
                           ShownText(output), bad.count());
  return ExitCode::kDone;
}

ProgramEnd Merge(const ShardPaths& shards, const MergeFlags& flags) {
  const std::string& output = flags.writing.output;
  const Place place = SplitPath(output);
  RefuseInputs(shards, output, place);
  std::error_code ignored;
  if (fs::is_directory(output, ignored)) {
    throw UsageError("--output " + output + ": is a folder; give a file");
  }
  if (!flags.writing.dry_run) {
    StagedFolder::FinishKilled(place.folder);
  }
  (void)ExistingOutputs({output}, flags.writing.overwrite);
  if (flags.writing.dry_run) {
    return SayWhat(shards, flags);
  }
  return RunInterruptibly("records", kNothingIsLeft,
                          [&](const Interruption& interruption) {
                            return Write(shards, flags, place, interruption);
                          });
}

}  // namespace

void AddMergeVerb(CLI::App& app, Command& command) {
  const auto flags = std::make_shared<MergeFlags>();
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
      [flags](const ShardPaths& shards) { return Merge(shards, *flags); });
  AddWritingOptions(merge, flags->writing,
                    "File to write, or its URL at s3:// or gs://.");
  AddBadRecordOption(merge, flags->skip_bad);
}

}  // namespace infeed
