#pragma once

#include <string>

#include "pipeline/remote/rpc.h"

namespace infeed {

// Sets the TLS files of the process for its input workers, or for itself as
// one; the programs have flags for them. Throws UsageError if only some of the
// three are given, or the key is not the certificate's. Thread-safe; streams
// that are open keep the files with which they began.
void SetWorkerTls(const TlsFiles& files);

// The access of this process: these files, and the token of the environment's
// INFEED_WORKER_TOKEN. Throws UsageError for a token of fewer than 32
// characters, or of others than letters and digits of base64url.
[[nodiscard]] RpcAccess WorkerAccess();

// Throws UsageError unless the address is one of this machine alone
// (127.0.0.0/8, ::1, localhost), or the access has a token or TLS.
void CheckListenAddress(const std::string& address, const RpcAccess& access);

}  // namespace infeed
