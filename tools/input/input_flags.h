#pragma once

#include <string>
#include <vector>

#include "pipeline/order/options.h"

namespace CLI {
class App;
}

// The flags that make InputOptions, for programs that read data sets without
// training on them.
namespace infeed {

struct InputFlags {
  InputOptions options;  // its numbers and switches are flags themselves
  // The names of its choices, and what else is worked out.
  std::string recipe = "tpu";
  std::string interpolation = "recipe";
  std::string augment = "none";
  std::string shuffle;  // empty: global in training, none in evaluation
  std::string rank_share = "contiguous";
  std::string last_batch = "auto";
  std::string label_offset = "auto";
  std::string on_bad_record = "replace";
  std::string graph = "flow";
  std::string memory_limit = "4GiB";
  std::vector<float> color_jitter;  // none, or four
};

// Adds what decides about the batches, in the groups "Stream", "Images" and
// "Bad records".
void AddStreamFlags(CLI::App& app, InputFlags& flags);

// Adds what decides about their cost, in the group "Performance", but the
// number of threads, which programs have in different ways.
void AddPerformanceFlags(CLI::App& app, InputFlags& flags);

// Returns the options that the flags make. Throws UsageError for a name that is
// none of a choice's. Requires: the app is parsed.
[[nodiscard]] InputOptions ResolveInput(const InputFlags& flags);

}  // namespace infeed
