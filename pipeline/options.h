#pragma once

#include <cstdint>
#include <string_view>

#include "preprocess/jpeg.h"
#include "preprocess/recipe.h"

namespace infeed {

enum class Shuffle {
  kNone,    // the records' own order
  kGlobal,  // a keyed permutation of all records, another one each epoch
};

// What becomes of a record that fails its checksum, its Example parse, its
// decode or its limits. No policy moves another sample.
enum class OnBadRecord {
  kFail,     // Next() throws its DataError
  kReplace,  // another record, drawn by (seed, epoch, position), takes its
             // place
  kSkip,     // its slot has label -1, weight 0 and black pixels
};

// "none", "global"; "fail", "replace", "skip". Throw UsageError.
[[nodiscard]] Shuffle ParseShuffle(std::string_view name);
[[nodiscard]] OnBadRecord ParseOnBadRecord(std::string_view name);

struct InputOptions {
  // Behaviour: what is in the batches.

  // Images of a global batch, over all ranks; a multiple of world_size.
  int batch_size = 64;
  // This process takes the rank-th contiguous part of each global batch.
  int rank = 0;
  int world_size = 1;
  int image_size = 224;  // side of a batch's images, pixels
  Recipe recipe = Recipe::kTpu;
  // Random crop and flip, epochs for ever, and the last batch of an epoch
  // dropped when it is not full. Otherwise one epoch, whose last batch is
  // filled up with slots of weight 0.
  bool training = true;
  Shuffle shuffle = Shuffle::kGlobal;
  std::uint64_t seed = 0;
  OnBadRecord on_bad_record = OnBadRecord::kReplace;
  // Subtracted from a record's label: converters number classes from 1.
  int label_offset = 1;
  // Only so many records, the first of the data set; 0: all.
  std::int64_t max_records = 0;
  // Large windows of JPEGs decoded at a fraction of their size: faster, other
  // pixels (preprocess/recipe.h).
  bool scaled_decode = false;
  JpegLimits jpeg_limits = {};

  // Performance: what it costs. The batches are the same for any value.

  int threads = 0;          // of the flow graph; 0: one for each core
  int batches_in_pool = 3;  // slots for whole batches; at least 2
  bool verify_checksums = true;
  // Whether JPEGs are entered by their seek indexes where they have one.
  bool use_seek_indexes = true;
  // Bytes of batches, records in flight and decode buffers together; checked
  // at start.
  std::int64_t memory_limit = std::int64_t{4} << 30;
};

// Returns the options with threads worked out. Throws UsageError naming the
// field that is out of its range, or a batch that the ranks cannot share.
[[nodiscard]] InputOptions CheckedInputOptions(InputOptions options);

}  // namespace infeed
