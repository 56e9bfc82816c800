#pragma once

#include <span>
#include <string>

#include "pipeline/remote/rpc.h"
#include "tools/worker/worker_data.h"
#include "tools/worker/worker_flags.h"

namespace infeed {

// "serving train (3000 records) at 127.0.0.1:9410, 16 threads".
[[nodiscard]] std::string ServiceText(const WorkerFlags& flags,
                                      std::span<const ServedData> data,
                                      const std::string& address);

// Serves the data, and prints where, until a signal asks for the end; ranges in
// work are finished, within 10 seconds. Throws what LoadedRpcLibrary() and
// RpcLibrary::Listen() throw.
void ServeRanges(const WorkerFlags& flags, std::span<const ServedData> data,
                 const RpcAccess& access);

}  // namespace infeed
