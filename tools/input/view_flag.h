#pragma once

#include <span>
#include <string>
#include <vector>

#include "pipeline/options/options.h"

namespace CLI {
class App;
}  // namespace CLI

namespace infeed {

// Adds --view, which may be given more than once.
void AddViewFlag(CLI::App& app, std::vector<std::string>& texts);

// Adds the views of such texts, NAME=VALUE,NAME=VALUE, to options whose other
// flags are set (MakeView()). Throws UsageError that names the text.
void AddViews(std::span<const std::string> texts, InputOptions& options);

}  // namespace infeed
