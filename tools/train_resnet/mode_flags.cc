#include "tools/train_resnet/mode_flags.h"

#include <algorithm>
#include <span>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.h"

namespace infeed {
namespace {

struct ReadingMode {
  Mode mode;
  std::string_view name;
  std::string_view own_group;
  std::span<const std::string_view> others;  // flags and groups
};

constexpr std::string_view kOthersOfReplay[] = {
    "--mode", "--model_dir",   "--data_dir",    "--device",
    "--rank", "Configuration", kParameterGroup, "Cloud"};
constexpr std::string_view kOthersOfCompare[] = {
    "--mode",      "--model_dir",  "--data_dir",   "--json",
    "--cache_dir", "--cache_size", "--connections"};
constexpr ReadingMode kReadingModes[] = {
    {Mode::kReplay, "replay", "Replay", kOthersOfReplay},
    {Mode::kCompare, "compare", "Compare", kOthersOfCompare}};

// Flags without a group are hidden: they have no effect in any mode.
bool Uses(const ReadingMode& mode, const CLI::Option& option) {
  const std::string& group = option.get_group();
  const std::string name = option.get_name();
  return group.empty() || group == mode.own_group ||
         std::ranges::any_of(mode.others, [&](std::string_view other) {
           return other == name || other == group ||
                  (other == kParameterGroup && group.ends_with(other));
         });
}

}  // namespace

void CheckFlagsOfMode(const CLI::App& app, Mode mode) {
  const auto given = app.get_options(
      [](const CLI::Option* option) { return option->count() > 0; });
  for (const CLI::Option* const option : given) {
    for (const ReadingMode& reading : kReadingModes) {
      const bool is_this = mode == reading.mode;
      if (is_this ? !Uses(reading, *option)
                  : option->get_group() == reading.own_group) {
        throw UsageError(fmt::format("{}: is {}for mode {}", option->get_name(),
                                     is_this ? "not " : "", reading.name));
      }
    }
  }
}

}  // namespace infeed
