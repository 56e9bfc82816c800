#include "trainer/run/resident_data.h"

#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "base/count_text.h"
#include "base/error.h"
#include "records/bytes/byte_size.h"
#include "trainer/feed/resident_images.h"

namespace infeed {
namespace {

bool DrawsInSteps(const TrainParams& params) {
  return params.model.dropout_rate > 0 || params.model.drop_connect_rate > 0 ||
         !params.dropblock_groups.empty();
}

// Why this run must read its images from records; empty: it need not.
std::string ReasonAgainst(const Job& job) {
  const TrainParams& params = job.params;
  if (job.data.is_fake()) {
    return "the data is fake";
  }
  if (!job.ranks.place().is_alone()) {
    return "there are several ranks";
  }
  if (params.input.input_hash == InputHash::kPixels) {
    return "input_hash=pixels needs each image on the host";
  }
  if (!IsGpu(job.options.device)) {
    return "";
  }
  if (params.cuda_graph == GraphReplay::kFalse) {
    return "it needs cuda_graph=true";
  }
  return DrawsInSteps(params) ? "dropout_rate, drop_connect_rate and "
                                "dropblock_groups have the host seed each step"
                              : "";
}

// Checks the machine's memory; Hold() checks a GPU's.
void RequireRoom(const Job& job, const ResidentShape& shape) {
  const std::int64_t limit = job.params.input.memory_limit;
  if (!IsGpu(job.options.device) && shape.bytes() > limit) {
    throw UsageError(fmt::format(
        "data_on_device: {} images take {}, but memory_limit is {}: raise it, "
        "or give data_on_device=false",
        shape.images, MemorySizeText(shape.bytes()), MemorySizeText(limit)));
  }
}

}  // namespace

HeldRecords HoldImages(const Job& job, const InputOptions& input) {
  if (!job.params.data_on_device) {
    return nullptr;
  }
  if (const std::string reason = ReasonAgainst(job); !reason.empty()) {
    Say("data_on_device: images are read from the records as needed: " +
        reason);
    return nullptr;
  }
  CheckResident(input);
  if (!job.params.image_size_schedule.empty()) {
    throw UsageError(
        "data_on_device: packed pixels have one size; leave "
        "image_size_schedule out, or give data_on_device=false");
  }
  const RecordIndex& index = *job.data.train_index();
  const ResidentShape shape = ComputeResidentShape(index, input);
  RequireRoom(job, shape);
  HeldRecords held = ReadResidentImages(index, input, job.device.Hold(shape));
  Say(fmt::format("data_on_device: {}, {}", CountText(shape.images, "image"),
                  MemorySizeText(shape.bytes())));
  return held;
}

}  // namespace infeed
