#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "records/cloud/cloud_runtime.h"
#include "trainer/remote/outbox.h"

// Exports whose export_dir is in an object store.
namespace infeed {

// Moves a finished export's folder to the outbox, for an upload to URL/NAME,
// where NAME is the folder's name, or the next number for which the store is
// known to have no export. Returns the export's future URL. Throws IoError.
[[nodiscard]] std::string QueueExport(
    const std::string& folder, const std::string& url, Outbox& outbox,
    const std::shared_ptr<const CloudRuntime>& runtime);

// Uploads the waiting exports, preprocessing.json last: it marks an export as
// complete. Throws IoError.
void SendExports(Outbox& outbox,
                 const std::shared_ptr<const CloudRuntime>& runtime,
                 const std::stop_token& stop);

}  // namespace infeed
