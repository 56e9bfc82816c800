#pragma once

#include <string>
#include <vector>

#include "tools/images/raw_formats.h"
#include "tools/images/tree.h"

namespace CLI {
class App;
}

// The flags that say what is converted.
namespace infeed {

struct RawInputFlags {
  std::vector<std::string> raw_data_dirs;
  std::vector<std::string> manifests;
  RawFormat raw_format = RawFormat::kImages;
  std::string split;
  bool report_duplicates = false;
  int threads = 0;  // that of the program; no flag of its own
};

// Adds the flags to an app, which fills them in when it parses.
void AddRawInputFlags(CLI::App& app, RawInputFlags& flags);

// Reads what the flags name, and divides it where they ask for that. All that
// is wrong with the input as a whole is found here, before anything is
// written. Throws UsageError, IoError, DataError.
[[nodiscard]] ImageTree ReadRawInput(const RawInputFlags& flags);

}  // namespace infeed
