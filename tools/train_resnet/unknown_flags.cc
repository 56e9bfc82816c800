#include "tools/train_resnet/unknown_flags.h"

#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.h"
#include "trainer/params/nearest_name.h"

namespace infeed {

void RefuseUnknownFlags(const CLI::App& app) {
  const std::vector<std::string> extras = app.remaining();
  if (extras.empty()) {
    return;
  }
  const std::string& extra = extras.front();
  if (!extra.starts_with("-")) {
    throw UsageError(fmt::format(
        "'{}': not a flag, and no flag takes it (see --help)", extra));
  }
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    const std::vector<std::string>& more = option->get_lnames();
    names.insert(names.end(), more.begin(), more.end());
  }
  const std::string flag = extra.substr(0, extra.find('='));
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string_view nearest = NearestName(
      std::string_view(flag).substr(flag.find_first_not_of('-')), known);
  throw UsageError(fmt::format(
      "unknown flag '{}'{}", flag,
      nearest.empty() ? " (see --help)"
                      : fmt::format(": did you mean '--{}'?", nearest)));
}

}  // namespace infeed
