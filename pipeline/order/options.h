#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "pipeline/memory/batch_content.h"
#include "pipeline/memory/batch_memory.h"
#include "pipeline/order/order_options.h"
#include "preprocess/augment/options.h"
#include "preprocess/jpeg/jpeg.h"
#include "preprocess/recipe/recipe.h"

namespace infeed {

class Selection;
class TraceLog;
struct BadRecord;

// What becomes of a record that fails its checksum, its Example parse, its
// decode or its limits. No policy moves another sample.
enum class OnBadRecord {
  kFail,     // Next() throws its DataError
  kReplace,  // another record, drawn by (seed, epoch, position), takes its
             // place
  kSkip,     // its slot has label -1, weight 0 and black pixels
};

// How the work is done.
enum class GraphKind {
  kFlow,   // a flow graph: read ahead, all threads at work on many samples
  kBasic,  // one record after the other in the consumer's thread, nothing
           // overlapped: what a slow input looks like
};

// "fail", "replace", "skip"; "flow", "basic". Throw UsageError.
[[nodiscard]] OnBadRecord ParseOnBadRecord(std::string_view name);
[[nodiscard]] GraphKind ParseGraphKind(std::string_view name);
// "auto" (absent), "0", "1". Throws UsageError.
[[nodiscard]] std::optional<int> ParseLabelOffset(std::string_view name);
[[nodiscard]] std::string_view OnBadRecordName(OnBadRecord policy);
[[nodiscard]] std::string_view GraphKindName(GraphKind graph);

// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): by meaning.
struct InputOptions {
  // Behaviour: what is in the batches.

  // Images of a global batch, over all ranks; a multiple of world_size.
  int batch_size = 64;
  // Which share of each global batch is this process's.
  int rank = 0;
  int world_size = 1;
  RankShare rank_share = RankShare::kContiguous;
  LastBatch last_batch = LastBatch::kByMode;
  int image_size = 224;  // side of a batch's images, pixels
  Recipe recipe = Recipe::kTpu;
  Interpolation interpolation = Interpolation::kRecipe;
  AugmentOptions augment = {};  // in training only
  // Random crop and flip. Otherwise nothing random.
  bool training = true;
  bool random_flip = true;  // false: training images are not mirrored
  // Epochs, from the one in which the stream begins on; a resumed stream goes
  // on counting. 0: for ever in training, else one.
  std::int64_t repeat = 0;
  Shuffle shuffle = Shuffle::kGlobal;
  int window_shards = 16;     // interleaved at once by shuffle=window
  int window_records = 4096;  // shuffled among each other by it
  std::uint64_t seed = 0;
  OnBadRecord on_bad_record = OnBadRecord::kReplace;
  // Budgets of bad records, beyond which the stream ends with an error: so many
  // different ones (-1: any number), and this share of the samples so far.
  std::int64_t max_bad_records = -1;
  double max_bad_rate = 1;
  // A JPEG that libjpeg warns about is used, and counted, not bad.
  bool lenient = false;
  // The label of the first class, 0 or 1: less this, a record's label is its
  // class, from 0. Absent: found in the data (label_class.h), which may take a
  // pass over it.
  std::optional<int> label_offset = {};
  int num_label_classes = 0;  // so many; 0: not known, any label fits
  // A record whose label is missing, or none of a class, is bad. False: it is
  // used, and its label in the batch is -1.
  bool require_labels = true;
  // Only so many records, the first of the data set; 0: all.
  std::int64_t max_records = 0;
  // Which records make an epoch, by weight; null: each of the data set once.
  std::shared_ptr<const Selection> selection = nullptr;
  // Large windows of JPEGs decoded at a fraction of their size: faster, other
  // pixels (preprocess/recipe/recipe.h).
  bool scaled_decode = false;
  JpegLimits jpeg_limits = {};
  // Batches of crop windows, which a device resizes to the same pixels
  // (BatchContent::kWindows).
  bool device_resize = false;

  // Performance: what it costs. The batches are the same for any value.

  GraphKind graph = GraphKind::kFlow;
  int threads = 0;           // of the flow graph; 0: one for each core
  int batches_in_pool = 3;   // slots for whole batches; at least 2
  int prefetch_batches = 2;  // whose records are asked for ahead of the pool
  bool verify_checksums = true;
  // Whether JPEGs are entered by their seek indexes where they have one.
  bool use_seek_indexes = true;
  // Encoded records kept in memory once read, as far as the limit allows.
  bool use_cache = false;
  // Bytes of the program, batches, records in flight, decode buffers and cache
  // together (pipeline/reading/memory_plan.h), of all ranks on this machine;
  // checked at start.
  std::int64_t memory_limit = std::int64_t{4} << 30;
  int local_world_size = 1;  // ranks on this machine
  // What is done to the memory of the batches, for a device.
  BatchMemory batch_memory = {};

  // What leaves a run beside its batches.

  // Where bad records are listed, one JSON object a line; empty: nowhere.
  std::string bad_record_report = {};
  // Is told each bad record before Next() returns its batch, in order; one
  // thread at a time, whichever. Empty: nobody is.
  std::function<void(const BadRecord&)> on_bad = {};
  // Gets the spans of all stages; must outlive the pipeline. Null: none.
  TraceLog* trace = nullptr;
};

// Returns the options with threads, last_batch and repeat worked out. Throws
// UsageError naming the field that is out of its range, or a batch that the
// ranks cannot share.
[[nodiscard]] InputOptions CheckedInputOptions(InputOptions options);

// What they have in their batches.
[[nodiscard]] BatchContent ContentOf(const InputOptions& options);

// What they say of the preprocessing. Requires: they are checked.
[[nodiscard]] PreprocessOptions PreprocessOptionsOf(
    const InputOptions& options);

}  // namespace infeed
