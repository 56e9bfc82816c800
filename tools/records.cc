#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "records/shards.h"
#include "tools/flags.h"
#include "tools/records_verbs.h"

namespace infeed {
namespace {

constexpr const char* kAbout =
    "Looks into TFRecord shards, without TensorFlow.\n"
    "\n"
    "A PATH is a file, a folder of shards, or a quoted pattern. Folders and\n"
    "patterns mean names that end in -NNNNN-of-NNNNN only, so side files are\n"
    "never read as shards.\n";

constexpr const char* kExamples =
    "Examples:\n"
    "  records count SHARDS\n"
    "  records cat --limit 3 'SHARDS/train-*'\n"
    "  records verify --decode SHARDS\n"
    "  records VERB --help\n"
    "\n"
    "Exit codes: 0 done, 1 runtime error, 2 usage, 3 bad data.\n";

// Paths, options and what is to be done with them.
struct Command {
  std::vector<std::string> paths;
  CatOptions cat;
  VerifyOptions verify;
  bool frames_only = false;
  std::function<ExitCode(const ShardPaths&)> verb;
};

// Adds a verb that takes paths. `more` follows its flags in its --help.
CLI::App* AddVerb(CLI::App& app, Command& command, const char* name,
                  const char* about, const char* more,
                  std::function<ExitCode(const ShardPaths&)> verb) {
  CLI::App* added = app.add_subcommand(name, about);
  added->footer(more);
  added->add_option("PATH", command.paths, "files, folders, quoted patterns")
      ->required();
  added->callback([&command, verb = std::move(verb)] { command.verb = verb; });
  return added;
}

void AddCount(CLI::App& app, Command& command) {
  AddVerb(app, command, "count",
          "Prints the number of records of each shard, and the total",
          "Payloads are skipped; an index makes it instant. The last line is\n"
          "\"total N\".\n"
          "\n"
          "Example:\n"
          "  records count SHARDS | tail -1\n",
          CountRecords);
}

void AddCat(CLI::App& app, Command& command) {
  CLI::App* cat = AddVerb(
      app, command, "cat", "Prints records as lines of JSON",
      "A line says where the record is and what the features of its\n"
      "tf.train.Example are. Bytes that are not text are shown as their\n"
      "length. Bad records are reported on stderr, and make the exit code 3.\n"
      "\n"
      "Examples:\n"
      "  records cat --limit 1 SHARDS/train-00000-of-00008\n"
      "  records cat SHARDS | jq '.features[\"image/class/label\"]'\n",
      [&command](const ShardPaths& shards) {
        return CatRecords(shards, command.cat);
      });
  cat->add_option("--limit", command.cat.limit, "print so many records [all]")
      ->check(CLI::NonNegativeNumber);
}

void AddVerify(CLI::App& app, Command& command) {
  CLI::App* verify = AddVerb(
      app, command, "verify", "Checks every record, and prints the bad ones",
      "Reads every record, checks both checksums and parses its Example.\n"
      "Prints each bad record with file, record and byte offset, and goes\n"
      "on; a broken frame ends its shard. Ends with a line\n"
      "\"N records in M shards, B bad\"; exit code 3 when B is not 0.\n"
      "\n"
      "Examples:\n"
      "  records verify SHARDS\n"
      "  records verify --decode 'SHARDS/validation-*'\n"
      "  records verify --frames_only MODEL/events.out.tfevents.*\n",
      [&command](const ShardPaths& shards) {
        command.verify.parse_examples = !command.frames_only;
        return VerifyRecords(shards, command.verify);
      });
  CLI::Option* decode = verify->add_flag("--decode", command.verify.decode,
                                         "decode every image as well");
  verify
      ->add_flag("--frames_only", command.frames_only,
                 "checksums only: the records need not be Examples")
      ->excludes(decode);
  verify->add_option("--threads", command.verify.threads,
                     "shards read at once [one for each core]");
}

void AddIndex(CLI::App& app, Command& command) {
  AddVerb(app, command, "index", "Makes the index files of shards",
          "Random access, a global shuffle and an exact resume need them.\n"
          "They lie in .infeed/ beside the shards, or in the user's cache\n"
          "where that cannot be written. Whoever reads shards makes missing\n"
          "ones too; this makes them beforehand.\n"
          "\n"
          "Example:\n"
          "  records index SHARDS\n",
          IndexShards);
}

std::string JoinWithCommas(const std::vector<std::string>& paths) {
  std::string spec;
  for (const std::string& path : paths) {
    spec.append(spec.empty() ? "" : ",").append(path);
  }
  return spec;
}

ExitCode Run(int argc, char** argv) {
  CLI::App app(kAbout);
  Command command;
  app.footer(kExamples);
  app.require_subcommand(0, 1);
  AddCount(app, command);
  AddCat(app, command);
  AddVerify(app, command);
  AddIndex(app, command);
  if (!ParseFlags(app, argc, argv)) {
    return ExitCode::kDone;
  }
  if (!command.verb) {
    throw UsageError("give a verb: count, cat, verify or index (see --help)");
  }
  return command.verb(ListShards(JoinWithCommas(command.paths)));
}

}  // namespace
}  // namespace infeed

int main(int argc, char** argv) {
  return infeed::RunMain(argc, argv, infeed::Run);
}
