#include "trainer/run/prediction_pictures.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "pipeline/engine/input_pipeline.h"
#include "pipeline/order/selection.h"

namespace infeed {
namespace {

constexpr int kBatchSize = 16;

}  // namespace

std::map<std::int64_t, WebPicture> PicturesOf(const RecordIndex& index,
                                              std::vector<std::int64_t> records,
                                              InputOptions input) {
  std::map<std::int64_t, WebPicture> pictures;
  if (records.empty()) {
    return pictures;
  }
  std::ranges::sort(records);
  input.batch_size = std::min(kBatchSize, static_cast<int>(records.size()));
  input.max_records = 0;
  input.selection = std::make_shared<const Selection>(std::vector<RecordGroup>{
      {.name = "shown", .ids = {records.begin(), records.end()}}});
  input.on_bad = {};
  input.bad_record_report.clear();
  InputPipeline pipeline(index, input);
  std::size_t next = 0;
  while (const BatchHandle batch = pipeline.Next()) {
    for (int slot = 0; slot < batch->size() && next < records.size();
         ++slot, ++next) {
      if (batch->weights()[static_cast<std::size_t>(slot)] != 0) {
        pictures.emplace(records[next], PictureForWeb(*batch, slot));
      }
    }
  }
  return pictures;
}

}  // namespace infeed
