#include "trainer/feed/run_input.h"

#include "pipeline/engine/input_pipeline.h"
#include "trainer/feed/fake_data.h"
#include "trainer/feed/resident_images.h"

namespace infeed {

std::unique_ptr<BatchStream> OpenInput(const RecordIndex* index,
                                       const InputOptions& options,
                                       const StreamPosition& start,
                                       ImagePlace place) {
  if (index == nullptr) {
    return std::make_unique<FakeData>(options, start);
  }
  if (place == ImagePlace::kDevice) {
    return std::make_unique<ResidentOrder>(*index, options, start);
  }
  return std::make_unique<InputPipeline>(*index, options, start);
}

}  // namespace infeed
