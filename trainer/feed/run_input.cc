#include "trainer/feed/run_input.h"

#include <utility>

#include "pipeline/engine/input_pipeline.h"
#include "trainer/feed/fake_data.h"

namespace infeed {

std::unique_ptr<BatchStream> OpenInput(const RecordIndex* index,
                                       const InputOptions& options,
                                       const StreamPosition& start,
                                       HeldRecords held) {
  if (index == nullptr) {
    return std::make_unique<FakeData>(options, start);
  }
  if (held) {
    return std::make_unique<ResidentOrder>(*index, options, start,
                                           std::move(held));
  }
  return std::make_unique<InputPipeline>(*index, options, start);
}

}  // namespace infeed
