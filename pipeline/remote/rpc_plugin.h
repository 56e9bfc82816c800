#pragma once

#include "pipeline/remote/rpc.h"

namespace infeed {

// The library for remote procedure calls, loaded at the first call from
// libinfeed_workers.so: beside the program or library that this code is in,
// in ../lib/infeed, or where infeed was installed. It is never unloaded. Throws
// UsageError that names the places where it was looked for, or why it could not
// be loaded, and in a child of fork() of a process that had loaded it, as gRPC
// cannot be used there. Thread-safe.
[[nodiscard]] RpcLibrary& LoadedRpcLibrary();

}  // namespace infeed
