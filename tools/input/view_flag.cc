#include "tools/input/view_flag.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "pipeline/options/option_text.h"

namespace infeed {
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
