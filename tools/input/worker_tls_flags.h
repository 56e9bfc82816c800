#pragma once

#include <string>

#include "pipeline/remote/rpc.h"

namespace CLI {
class App;
}

namespace infeed {

// Adds --PREFIXtls_cert, --PREFIXtls_key and --PREFIXtls_ca: the files with
// which a trainer and its input workers identify themselves to each other.
void AddWorkerTlsFlags(CLI::App& app, const std::string& prefix,
                       TlsFiles& files);

}  // namespace infeed
