#pragma once

#include <string_view>

namespace infeed {

// "0.1.0".
[[nodiscard]] std::string_view BuildVersion();
// The commit that the program was built from: its first twelve digits, with
// "-dirty" behind them where files were changed since; "unknown" where the
// sources lay in no repository. cmake/build_version.cmake writes its source.
[[nodiscard]] std::string_view BuildCommit();

}  // namespace infeed
