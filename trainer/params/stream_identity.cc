#include "trainer/params/stream_identity.h"

#include <nlohmann/json.hpp>

#include "pipeline/options/options.h"
#include "pipeline/order/stream_state.h"

namespace infeed {

RunIdentity MakeStreamIdentity(const TrainParams& params,
                               const RecordIndex& index, int ranks) {
  InputOptions input = params.input;
  input.world_size = ranks;
  RunIdentity identity;
  for (const auto& [name, value] : StreamIdentity(index, input)) {
    // Uses the parameters' names where they differ from the options' names.
    identity.push_back({name == "data"         ? "data_identity"
                        : name == "batch_size" ? "train_batch_size"
                                               : name,
                        value});
  }
  identity.push_back({"image_size_schedule",
                      nlohmann::json(params.image_size_schedule).dump()});
  return identity;
}

}  // namespace infeed
