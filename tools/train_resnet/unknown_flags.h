#pragma once

namespace CLI {
class App;
}

namespace infeed {

// Throws UsageError for the first command-line word that the app did not
// accept, naming the flag that was probably meant. Requires: the app has
// parsed, and allows extras.
void RefuseUnknownFlags(const CLI::App& app);

}  // namespace infeed
