#include "tools/train_resnet/mode_flags.h"

#include <algorithm>
#include <iterator>
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

template <Mode... kThese>
bool IsOneOf(Mode mode) {
  return ((mode == kThese) || ...);
}

// Flags that have an effect in some modes only. The first row of a flag counts.
struct OwnFlags {
  std::string_view flag;  // or a group
  bool (*is_for)(Mode mode);
  std::string_view modes;
};
constexpr OwnFlags kOwnFlags[] = {
    {"--eval_timeout", IsOneOf<Mode::kEval>, "mode eval"},
    {"--json", IsOneOf<Mode::kCompare, Mode::kDoctor>,
     "the modes compare and doctor"},
    {"--average_checkpoints", IsOneOf<Mode::kExport>, "mode export"},
    {"Export", IsOneOf<Mode::kTrain, Mode::kTrainAndEval, Mode::kExport>,
     "the modes train, train_and_eval and export"},
    {"Prediction", IsOneOf<Mode::kPredict>, "mode predict"},
    {"Replay", IsOneOf<Mode::kReplay>, "mode replay"},
    {"Compare", IsOneOf<Mode::kCompare>, "mode compare"}};

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
    const std::string name = option->get_name();
    for (const ReadingMode& reading : kReadingModes) {
      if (mode == reading.mode && !Uses(reading, *option)) {
        throw UsageError(name + ": is not for mode " +
                         std::string(reading.name));
      }
    }
    const auto* const own =
        std::ranges::find_if(kOwnFlags, [&](const OwnFlags& row) {
          return row.flag == name || row.flag == option->get_group();
        });
    if (own != std::end(kOwnFlags) && !own->is_for(mode)) {
      throw UsageError(fmt::format("{}: is for {}", name, own->modes));
    }
  }
}

}  // namespace infeed
