#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "pipeline/engine/batch_stream.h"
#include "pipeline/options/options.h"
#include "records/store/record_index.h"
#include "trainer/feed/resident_images.h"
#include "trainer/ranks/place.h"

namespace infeed {

// Whether --data_dir selects fake data: "null", or "".
[[nodiscard]] inline bool IsFakeData(std::string_view data_dir) {
  return data_dir.empty() || data_dir == "null";
}

// Opens the stream of a training run or an evaluation: InputPipeline on the
// records of a split; ResidentOrder if the device has the images (held). The
// index must outlive the stream. Throws as their constructors.
//
// index null: fake data, one batch of random pixels and labels, in training for
// ever, else for max_records images. Image i of the batch of all ranks is drawn
// from (seed, i), stream kMadeData: its label, then its pixels. Throws
// UsageError for batches that do not fit in memory_limit.
[[nodiscard]] std::unique_ptr<BatchStream> OpenInput(
    const RecordIndex* index, const InputOptions& options,
    const StreamPosition& start = {}, HeldRecords held = nullptr);

// The rank's share of the machine's threads; 0: all of them.
[[nodiscard]] int ThreadsOf(const RankPlace& place);

// The options of a rank's part of an input: its part of each batch, and of the
// threads if their number is not given. An evaluation's batch is rounded up so
// that the ranks can share it; slots after the last image do not count.
[[nodiscard]] InputOptions PartOf(InputOptions input, const RankPlace& place);

// How to read labels as the model's classes.
struct ClassMap {
  int label_offset = 0;  // the label of the data's first class
  // The model's class of each class of the data; empty: the same number.
  std::vector<std::int32_t> to_model = {};
};

// Sets how the input reads labels.
void TakeClasses(const ClassMap& classes, InputOptions& input);

}  // namespace infeed
