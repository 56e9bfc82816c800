#include "tools/records/command.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/count_text.h"
#include "base/own_files.h"
#include "base/print_lines.h"
#include "base/shell_word.h"
#include "base/shown_text.h"
#include "records/files/open_source.h"
#include "records/files/output_check.h"
#include "records/files/record_files.h"
#include "records/files/shards.h"
#include "records/store/file_records.h"
#include "records/store/index_data.h"
#include "tools/cli/cloud_flags.h"
#include "tools/cli/help_text.h"
#include "tools/inspect/verification.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStdout = "-";

void SayOnStderr(const std::string& line) { PrintLine("records: " + line); }

void NoteFaults(const ShardSetFaults& faults) {
  for (const std::string& sentence : faults.mixed) {
    SayOnStderr(sentence);
  }
  if (!faults.missing.empty()) {
    SayOnStderr(MissingShardsText(faults));
  }
  if (!faults.changed.empty()) {
    SayOnStderr(ChangedShardsText(faults));
  }
}

// Takes the folders of class folders out of the PATHs.
ShardPaths TakeImageFolders(std::vector<std::string>& paths) {
  ShardPaths folders;
  std::erase_if(paths, [&](const std::string& path) {
    if (!IsImageFolder(path)) {
      return false;
    }
    folders.push_back(path);
    return true;
  });
  return folders;
}

ShardPaths FindShards(const std::vector<std::string>& paths, Command& command,
                      SetFaults policy) {
  std::vector<std::string> parts;
  for (const std::string& path : paths) {  // Each may be a list.
    std::ranges::move(DataPaths(path), std::back_inserter(parts));
  }
  return ListShardsOf(parts, [&](const ShardSetFaults& faults) {
    if (policy == SetFaults::kRefused || command.allow_missing_shards) {
      MakeFaultsPolicy(command.allow_missing_shards)(faults);
    } else if (policy == SetFaults::kReported) {
      command.faults = faults;
    } else {
      NoteFaults(faults);
    }
  });
}

[[noreturn]] void FailOfOtherFormat(const std::string& path,
                                    std::string_view kind) {
  throw UsageError(fmt::format(
      "{}: is {}, and this verb takes TFRecords: make some by "
      "imagenet_to_records --raw_data_dir {} --local_scratch_dir SHARDS",
      PathForMessages(path), kind, ShellWord(PathForMessages(path))));
}

void RefuseImageFolders(const std::vector<std::string>& paths) {
  const auto folder = std::ranges::find_if(paths, IsImageFolder);
  if (folder != paths.end()) {
    FailOfOtherFormat(*folder, "a folder of images");
  }
}

// Extensions that no shard has: shard names end in numbers or .gz.
constexpr std::array<std::string_view, 14> kExtensions = {
    "csv", "html", "idx", "jpg", "json", "jsonl", "log",
    "md",  "pb",   "png", "tsv", "txt",  "yaml",  "yml"};

bool IsSideFile(const std::string& path) {
  const std::string name = FileNameOf(path);
  const std::size_t dot = name.rfind('.');
  return (name.starts_with('.') && name.find_first_not_of('.') != name.npos) ||
         (dot != name.npos &&
          std::ranges::find(kExtensions, name.substr(dot + 1)) !=
              kExtensions.end());
}

// The files that a verb's flags name for its reports.
std::vector<NamedOutput> OutputsOf(const CLI::App& verb) {
  std::vector<NamedOutput> outputs;
  for (const char* name : {"--json", "--html"}) {
    const CLI::Option* const option = verb.get_option_no_throw(name);
    // A flag has no file: its value is "true".
    if (option != nullptr && option->count() > 0 &&
        option->results().back() != "true") {
      outputs.push_back({.flag = name,
                         .path = option->results().back(),
                         .may_be_stdout = std::string_view(name) == "--json"});
    }
  }
  return outputs;
}

// Throws IoError if the folder of an output is missing, unless the verb makes
// it: if it lies in the folder --output.
void RequireOtherFolders(std::vector<NamedOutput> outputs,
                         const CLI::App& verb) {
  const CLI::Option* const option = verb.get_option_no_throw("--output");
  if (option != nullptr && option->count() > 0) {
    std::error_code ignored;
    const auto normal = [&](const std::string& path) {
      return fs::weakly_canonical(fs::absolute(path, ignored), ignored);
    };
    const fs::path folder = normal(option->results().back());
    std::erase_if(outputs, [&](const NamedOutput& output) {
      const fs::path below = normal(output.path).lexically_relative(folder);
      return !below.empty() && *below.begin() != "..";
    });
  }
  RequireOutputFolders(outputs);
}

}  // namespace

CLI::App* AddVerb(CLI::App& app, Command& command, const VerbText& text,
                  std::function<ProgramEnd(const ShardPaths&)> run) {
  CLI::App* verb = app.add_subcommand(text.name, text.about);
  verb->footer(text.more);
  verb->add_option("PATH", command.paths, "files, folders, quoted patterns")
      ->required();
  if (text.faults != SetFaults::kNoted) {
    AddMissingShardsOption(verb, command.allow_missing_shards);
  }
  const auto cloud = std::make_shared<CloudFlags>();
  AddCloudFlags(*verb, *cloud);
  verb->callback([&command, cloud, verb, text, run = std::move(run)] {
    command.run = [&command, cloud, verb, text, run] {
      ApplyCloudFlags(*cloud);
      std::vector<std::string> paths = command.paths;
      ShardPaths found =
          text.takes_image_folders ? TakeImageFolders(paths) : ShardPaths();
      if (text.takes_tfrecords_only) {
        RefuseImageFolders(paths);
      }
      if (!paths.empty()) {
        std::ranges::move(FindShards(paths, command, text.faults),
                          std::back_inserter(found));
      }
      if (text.takes_tfrecords_only) {
        RefuseOtherFormats(found);
      }
      const std::vector<NamedOutput> outputs = OutputsOf(*verb);
      CheckOutputs(outputs, found);
      RequireOtherFolders(outputs, *verb);
      return run(found);
    };
  });
  return verb;
}

void RefuseOtherFormats(const ShardPaths& shards) {
  for (const std::string& shard : shards) {
    const RecordFormat format = DetectFormat(*OpenSource(shard));
    if (format != RecordFormat::kTfrecord) {
      FailOfOtherFormat(shard, "a " + std::string(RecordFormatName(format)));
    }
  }
}

void AddMissingShardsOption(CLI::App* verb, bool& allow) {
  Rare(verb->add_flag(
      "--allow_missing_shards", allow,
      "Continue if files of a set are missing (shards, tars, zips), and list "
      "them."));
}

OnShardSetFaults MakeFaultsPolicy(bool allow_missing_shards) {
  return FaultsPolicy(allow_missing_shards, SayOnStderr);
}

void AddThreadsOption(CLI::App* verb, int& threads) {
  verb->add_option("--threads", threads, "Number of threads. [one per core]")
      ->check([](const std::string& text) {
        return text.starts_with('-') ? "must not be negative, not " + text
                                     : std::string();
      });
}

void AddKeyOptions(CLI::App* verb, RecordKeys& keys) {
  verb->add_option("--image_key", keys.image,
                   "Key of the image; of tars the ending of its member, such "
                   "as png. [found]");
  verb->add_option("--label_key", keys.label, "Key of the label. [found]");
}

RecordKeys KeysIn(const ShardPaths& shards, const RecordKeys& given) {
  try {
    return FindKeys(RecordIndex({shards.front()}), given);
  } catch (const DataError&) {  // The error is reported when the shard is read.
    return given;
  }
}

void AddJsonOption(CLI::App* verb, std::string& target) {
  verb->add_flag("--json", target,
                 "Print JSON; --json=FILE: write JSON to the file, and print "
                 "the text.")
      ->transform([](const std::string& value) {
        return value == "true" ? kStdout : value;  // --json without FILE.
      })
      ->option_text("[=FILE]");
}

bool IsJsonOnly(const std::string& json_target) {
  return json_target == kStdout;
}

void PutReport(const std::string& json_target, const ReportTable& report) {
  if (IsJsonOnly(json_target)) {
    std::cout << ShownJson(RenderJson(report));
    return;
  }
  std::cout << ShownLines(RenderText(report)) << std::flush;
  if (!json_target.empty()) {  // Last: a full disk does not cost the text.
    WriteFileAtomically(json_target, RenderJson(report), kNamedByUser);
  }
}

ProgramEnd PutReportOf(
    const WritingOptions& options,
    const std::function<ReportTable(const Interruption&)>& work) {
  std::optional<ReportTable> report;
  ProgramEnd end = RunInterruptibly("records", kNothingIsLeft,
                                    [&](const Interruption& interruption) {
                                      report = work(interruption);
                                      return ExitCode::kDone;
                                    });
  if (report) {  // The work is done, whatever the report comes to.
    const bool only_prints = options.dry_run && !IsJsonOnly(options.json);
    PutReport(only_prints ? "" : options.json, *report);
  }
  return end;
}

std::function<void(const ShardPass&)> BadRecordsPrinter(
    const ShardPaths& shards) {
  return [&shards](const ShardPass& pass) {
    std::cerr << BadRecordsRow("", shards[pass.shard], pass.bad).text;
  };
}

ProgramEnd EndAfter(std::int64_t bad_records) {
  return bad_records == 0 ? ProgramEnd(ExitCode::kDone)
                          : ProgramEnd(ExitCode::kDataError,
                                       CountText(bad_records, "bad record"));
}

std::vector<std::string> TakeSideFiles(std::vector<std::string>& paths) {
  if (std::ranges::all_of(paths, IsSideFile)) {
    return {};
  }
  const auto first_skipped =
      std::stable_partition(paths.begin(), paths.end(),
                            [](const auto& path) { return !IsSideFile(path); });
  std::vector<std::string> skipped(first_skipped, paths.end());
  paths.erase(first_skipped, paths.end());
  return skipped;
}

std::string SkippedText(const std::vector<std::string>& skipped) {
  if (skipped.empty()) {
    return "";
  }
  return skipped.size() == 1
             ? fmt::format("skipped {}, which is not a shard",
                           PathForMessages(skipped.front()))
             : fmt::format("skipped {} files that are not shards, such as {}",
                           skipped.size(), PathForMessages(skipped.front()));
}

}  // namespace infeed
