#include "tools/records_command.h"

#include <utility>

#include <CLI/CLI.hpp>

#include "records/shards.h"

namespace infeed {

CLI::App* AddVerb(CLI::App& app, Command& command, const VerbText& text,
                  std::function<ExitCode(const ShardPaths&)> run) {
  CLI::App* verb = app.add_subcommand(text.name, text.about);
  verb->footer(text.more);
  verb->add_option("PATH", command.paths, "files, folders, quoted patterns")
      ->required();
  verb->callback([&command, run = std::move(run)] {
    command.run = [&command, run] {
      return run(ListShards(JoinWithCommas(command.paths)));
    };
  });
  return verb;
}

void AddThreadsOption(CLI::App* verb, int& threads) {
  verb->add_option("--threads", threads, "threads that work [one a core]")
      ->check([](const std::string& text) {
        return text.starts_with('-') ? "must not be negative, not " + text
                                     : std::string();
      });
}

std::string JoinWithCommas(const std::vector<std::string>& paths) {
  std::string spec;
  for (const std::string& path : paths) {
    spec.append(spec.empty() ? "" : ",").append(path);
  }
  return spec;
}

}  // namespace infeed
