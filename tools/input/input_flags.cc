#include "tools/input/input_flags.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.h"
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
      "Continue if files of a set are missing (shards, tars, zips), and list "
      "them."));
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

void AddSelectionFlags(CLI::App& app, SelectionChoice& choice) {
  const FlagGroup group(app, "Selection", Shown::kInHelpAll);
  app.add_option("--subset", choice.subset,
                 "File with the numbers of the records to use, from 0: a "
                 "number or a range such as 100-199 per line.")
      ->type_name("FILE");
  app.add_option("--classes", choice.classes,
                 "Classes whose records are used: names from dataset.json or "
                 "labels.txt, or labels as stored in records.")
      ->type_name("A,B");
  app.add_option(
         "--class_weights", choice.class_weights,
         "File with a class and its weight, its share of an epoch, per line; "
         "or balanced: the same share for every class.")
      ->type_name("FILE");
  app.add_option(
         "--sample_weights", choice.sample_weights,
         "File with a weight per line for every record: how often it is used.")
      ->type_name("FILE");
  app.add_option("--mix", choice.mix,
                 "Data sets to mix, each with its share of an epoch.")
      ->type_name("DIR=W,...");
  app.add_option("--epoch_records", choice.epoch_records,
                 "Records of an epoch; 0: as many as are selected.")
      ->capture_default_str();
}

void AddWorkerTlsFlags(CLI::App& app, const std::string& prefix,
                       TlsFiles& files) {
  const std::string names = "--" + prefix + "tls_";
  app.add_option(names + "cert", files.cert,
                 "Certificate (PEM) of this side of TLS between trainer and "
                 "workers.")
      ->type_name("FILE");
  app.add_option(names + "key", files.key,
                 "Private key (PEM) of that certificate.")
      ->type_name("FILE");
  app.add_option(names + "ca", files.ca,
                 "Certificate (PEM) of the authority that must have signed the "
                 "other side's.")
      ->type_name("FILE");
}

namespace {

std::vector<OptionAssignment> SettingsOf(std::string_view text) {
  std::vector<OptionAssignment> settings;
  while (!text.empty()) {
    const std::string_view setting = text.substr(0, text.find(','));
    text.remove_prefix(std::min(setting.size() + 1, text.size()));
    const std::size_t equal = setting.find('=');
    if (equal == std::string_view::npos) {
      throw UsageError("\"" + std::string(setting) + "\" is no NAME=VALUE");
    }
    settings.push_back({.name = std::string(setting.substr(0, equal)),
                        .value = std::string(setting.substr(equal + 1)),
                        .place = ""});
  }
  return settings;
}

}  // namespace

void AddViewFlag(CLI::App& app, std::vector<std::string>& texts) {
  app.add_option(
         "--view", texts,
         "Another view of each image, with options of its own, as "
         "image_size=96,crop_scale=0.05, or of another image of the record, as "
         "key=image/mask,labels=uint8; may be given more than once.")
      ->type_name("NAME=VALUE,...")
      ->allow_extra_args(false);
}

void AddViews(std::span<const std::string> texts, InputOptions& options) {
  for (const std::string& text : texts) {
    try {
      options.views.push_back(MakeView(options, SettingsOf(text)));
    } catch (const UsageError& error) {
      throw UsageError("--view " + text + ": " + error.what());
    }
  }
}

}  // namespace infeed
