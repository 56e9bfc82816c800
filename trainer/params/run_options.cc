#include "trainer/params/run_options.h"

#include "trainer/checkpoint/named_weights.h"
#include "trainer/remote/run.h"

namespace infeed {

std::string LocalWeights(const RunOptions& options, const std::string& given,
                         std::string_view parameter) {
  return options.storage != nullptr ? options.storage->Fetched(given, parameter)
                                    : FindWeights(given, parameter);
}

}  // namespace infeed
