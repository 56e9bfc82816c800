#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "records/cloud/cloud_runtime.h"
#include "trainer/remote/outbox.h"

// Exports whose export_dir is in an object store.
namespace infeed {

// Gives a finished export's folder to the outbox, for URL/NAME, where NAME is
// the folder's, or the next number that the store is known to have no export
// of. Returns where it will be. Throws IoError.
[[nodiscard]] std::string PostExport(
    const std::string& folder, const std::string& url, Outbox& outbox,
    const std::shared_ptr<const CloudRuntime>& runtime);

// Uploads those that wait, preprocessing.json last: with it an export is
// complete. Throws IoError.
void SendExports(Outbox& outbox,
                 const std::shared_ptr<const CloudRuntime>& runtime,
                 const std::stop_token& stop);

}  // namespace infeed
