#include "tools/input/input_flags.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <variant>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "pipeline/options/input_table.h"
#include "pipeline/options/option_text.h"
#include "tools/cli/help_text.h"

namespace infeed {
namespace {

constexpr std::string_view kPerformance = "Performance";

// Programs have their own flag for the threads, and return every batch
// (max_lent).
bool HasFlag(const InputOption& option) {
  return option.name != "threads" && option.name != "max_lent";
}

CLI::Option* AddSwitch(CLI::App& app, const InputOption& option,
                       InputOptions& options, const std::string& about) {
  const std::string opposite =
      option.name == "training" ? "eval" : fmt::format("no_{}", option.name);
  return app.add_flag_function(
      fmt::format("--{},!--{}", option.name, opposite),
      [&option, &options](std::int64_t count) {
        *std::get<bool*>(option.at(options)) = count > 0;
      },
      about);
}

CLI::Option* AddValue(CLI::App& app, const InputOption& option,
                      InputOptions& options, const std::string& about) {
  return app
      .add_option_function<std::string>(
          fmt::format("--{}", option.name),
          [&option, &options](const std::string& text) {
            SetOption(
                option,
                {.name = std::string(option.name), .value = text, .place = ""},
                option.at(options));
          },
          about)
      ->type_name(FlagTypeName(option, option.at(options)));
}

void AddFlag(CLI::App& app, const InputOption& option, InputOptions& options,
             const std::string& group) {
  const OptionRef field = option.at(options);
  const std::string about =
      fmt::format("{} [{}]", option.help, DefaultText(option, field));
  CLI::Option* const flag = std::holds_alternative<bool*>(field)
                                ? AddSwitch(app, option, options, about)
                                : AddValue(app, option, options, about);
  MarkShown(option, flag)->group(group);
}

void AddGroups(CLI::App& app, InputOptions& options, bool of_performance) {
  for (const InputOptionGroup& group : InputOptionGroups()) {
    for (const InputOption& option : group.options) {
      if ((group.title == kPerformance) == of_performance && HasFlag(option)) {
        AddFlag(app, option, options, std::string(group.title));
      }
    }
  }
}

}  // namespace

void AddStreamFlags(CLI::App& app, InputOptions& options) {
  AddGroups(app, options, false);
}

void AddPerformanceFlags(CLI::App& app, InputOptions& options) {
  AddGroups(app, options, true);
}

void AddShardsFlags(CLI::App& app, std::string& shards,
                    bool& allow_missing_shards) {
  Rare(app.add_option("--shards", shards,
                      "Files, folders or patterns of shards, all of them, "
                      "instead of --data_dir."))
      ->type_name("SPEC");
  Rare(app.add_flag(
      "--allow_missing_shards", allow_missing_shards,
      "Continue if shards of the set are missing, and list them."));
}

CLI::Option* MarkShown(const OptionInfo& option, CLI::Option* flag) {
  return option.is_common ? Common(flag) : Rare(flag);
}

std::string FlagTypeName(const OptionInfo& option, const OptionRef& field) {
  if (std::holds_alternative<bool*>(field)) {
    return "true|false";
  }
  if (!option.choices.empty()) {
    return std::string(option.choices);
  }
  std::string unit(option.unit);
  std::ranges::transform(unit, unit.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return unit;
}

}  // namespace infeed
