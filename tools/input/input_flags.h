#pragma once

#include <string>
#include <vector>

#include "pipeline/order/options.h"

namespace CLI {
class App;
}

// The flags for InputOptions, for programs that read data sets without
// training.
namespace infeed {

struct InputFlags {
  InputOptions options;  // flags set its numbers and switches directly
  // Names of choices, and other values that ResolveInput() converts.
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

// Adds the flags that determine the batches, in the groups "Stream", "Images"
// and "Bad records".
void AddStreamFlags(CLI::App& app, InputFlags& flags);

// Adds the flags that affect only speed and memory, in the group "Performance",
// except the number of threads, which differs among programs.
void AddPerformanceFlags(CLI::App& app, InputFlags& flags);

// Returns the options of the flags. Throws UsageError for an unknown name of a
// choice. Requires: the app is parsed.
[[nodiscard]] InputOptions ResolveInput(const InputFlags& flags);

}  // namespace infeed
