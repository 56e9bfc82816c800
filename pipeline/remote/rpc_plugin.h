#pragma once

#include "pipeline/remote/rpc.h"

namespace infeed {

// The library for remote procedure calls, loaded at the first call from
// libinfeed_workers.so (base/shared_library.h). It is never unloaded. Throws
// UsageError that says where it was looked for and why it could not be loaded,
// and in a child of fork() of a process that had loaded it, as gRPC cannot be
// used there. Thread-safe.
[[nodiscard]] RpcLibrary& LoadedRpcLibrary();

}  // namespace infeed
