#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/choices.h"
#include "pipeline/memory/batch.h"
#include "pipeline/options/objects.h"
#include "pipeline/options/option_choices.h"
#include "pipeline/options/views.h"
#include "preprocess/recipe/options.h"
#include "records/example/fields.h"
#include "records/example/imagenet_example.h"

namespace infeed {

class Selection;
class TraceLog;
struct BadRecord;

// The policy for a record that fails its checksum, its Example parse, its
// decode or its limits. No policy changes any other sample.
enum class OnBadRecord {
  kByMode,   // kReplace in training, else kSkip
  kFail,     // Next() throws its DataError
  kReplace,  // another one, drawn by (seed, epoch, position), takes its place
  kSkip,     // its slot has label -1, weight 0 and black pixels
};

inline constexpr Choices<OnBadRecord, 4> kOnBadRecords = {
    {{"auto", OnBadRecord::kByMode},
     {"fail", OnBadRecord::kFail},
     {"replace", OnBadRecord::kReplace},
     {"skip", OnBadRecord::kSkip}}};
// Values of InputOptions::label_offset.
inline constexpr Choices<std::optional<int>, 3> kLabelOffsets = {
    {{"auto", std::nullopt}, {"0", 0}, {"1", 1}}};

// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): by meaning.
struct InputOptions {
  // Behaviour: these options determine the batches.

  // Images of a global batch, over all ranks; a multiple of world_size.
  int batch_size = 64;
  // This process takes the rank's share of each global batch.
  int rank = 0;
  int world_size = 1;
  RankShare rank_share = RankShare::kContiguous;
  LastBatch last_batch = LastBatch::kByMode;
  // How an encoded image becomes a batch's image. `training` is beside it, as
  // it governs the order too.
  PreprocessOptions preprocess = {};
  // The images as words (Batch::pixels()) or as RGB bytes (Batch::rgb()), which
  // take three quarters of the memory; the levels are the same. kNone: the
  // records need no images, and labels are read (ReadsLabels()) only under a
  // key that is given.
  BatchContent layout = BatchContent::kPixels;
  // Random crop, flip and augmentation; if false, nothing is random.
  bool training = true;
  // Number of epochs, counted from the one in which the stream begins; a
  // resumed stream continues the count. 0: endless in training, else one.
  std::int64_t repeat = 0;
  Shuffle shuffle = Shuffle::kByMode;
  // Each image of a training epoch comes so many times in a row, with other
  // random draws each time; an epoch's length stays, so it has fewer images.
  int repeat_augment = 1;
  int window_shards = 16;     // shards interleaved at once by shuffle=window
  int window_records = 4096;  // records that it shuffles with each other
  std::uint64_t seed = 0;
  OnBadRecord on_bad_record = OnBadRecord::kByMode;
  // Budgets of bad records; beyond them the stream ends with an error: the
  // number of different bad records (-1: any number), and their share of the
  // samples so far.
  std::int64_t max_bad_records = -1;
  double max_bad_rate = 1;
  // The keys of the image and the label in each record. Image files have none.
  std::string image_key{kImageKey};
  std::string label_key{kLabelKey};
  // Read labels under the standard label_key, too, where only a key that is
  // given is read (ReadsLabels()).
  bool wants_labels = false;
  // The label of the first class, 0 or 1: a record's label minus this is its
  // class, from 0. Absent: found in the data (label_class.h), which may take a
  // pass over all records.
  std::optional<int> label_offset = {};
  int num_label_classes = 0;  // 0: unknown, any label is accepted
  // True: a record whose label is missing or outside the classes is bad. False:
  // it is used, with label -1 in the batch.
  bool require_labels = true;
  // Use only the first max_records records of the data set; 0: all.
  std::int64_t max_records = 0;
  // Selects an epoch's records by weight; null: each record once.
  std::shared_ptr<const Selection> selection = nullptr;
  // Features of each record that a batch carries beside the images
  // (Batch::fields(), fixed()); a record in which one of them is not as
  // specified is bad. A field is the label, too, only under a label_key that is
  // given, or if it is one whole number under the standard one (label_class.h).
  std::vector<FieldSpec> fields = {};
  // The most bytes of a record's ragged fields together (FieldReader); a record
  // with more is bad. Bounds their memory.
  std::int64_t max_field_bytes = 4096;
  // Boxes that follow the images (Batch::boxes()); a record in which they are
  // not as specified is bad. With them 16 KiB more are allowed for the values
  // of ragged fields, of which the boxes are a part.
  ObjectsSpec objects = {};

  // Views of each sample beside its image, views 1, 2 and so on; MakeView(). A
  // record that lacks one is bad.
  std::vector<ViewSpec> views = {};

  // Performance: the batches are the same for any value of these options.

  GraphKind graph = GraphKind::kFlow;
  int threads = 0;          // of the flow graph; 0: one per core
  int batches_in_pool = 3;  // batches that exist at once; at least 2
  // The most batches of the pool that the consumer holds at once, which leaves
  // at least one to be filled; a further one is given to it as a copy, outside
  // memory_limit and not pinned. 0: no copies; a consumer that holds all
  // batches stops the stream.
  int max_lent = 0;
  int prefetch_batches = 2;  // whose records are announced ahead of the pool
  bool verify_checksums = true;
  // Map the files of uncompressed TFRecords that fit into half of the machine's
  // memory, in place of reading them into buffers.
  bool map_files = true;
  // Where a JPEG's seek index comes from, with which the decoder skips the rows
  // above the crop.
  SeekIndexes seek_index = SeekIndexes::kAuto;
  // Keep encoded records in memory once read, as far as memory_limit allows.
  bool use_cache = false;
  // Bytes of the program, batches, records in flight, decode buffers and cache
  // together (pipeline/reading/memory_plan.h), of all ranks on this machine;
  // checked at start.
  std::int64_t memory_limit = std::int64_t{4} << 30;
  int local_world_size = 1;  // ranks on this machine
  // Pins the memory of the batches for a device.
  BatchMemory batch_memory = {};
  // Programs on other machines that fill slots too (pipeline/remote/
  // worker_list.h has the forms of the list); empty: none. Not with kBasic.
  std::string workers = {};
  // Ranges of slots that they have at once; 0: as many as the pool has slots,
  // and at most 32.
  int workers_in_flight = 0;
  // One of so many ranges of theirs is filled here too and compared, and the
  // first one of each worker; 0: only that.
  std::int64_t workers_check = 1000;

  // Other outputs of a run.

  // What Batch::fingerprints() cover.
  InputHash input_hash = InputHash::kRecords;
  std::string bad_record_report = {};  // a JSON object a line; empty: none
  // Called for each bad record, in order, before Next() returns its batch; from
  // any thread, one at a time. May be empty.
  std::function<void(const BadRecord&)> on_bad = {};
  // Called with a line about a worker that was lost, refused or dropped; from
  // any thread. May be empty.
  std::function<void(const std::string& line)> on_note = {};
  // Receives the spans of all stages; must outlive the pipeline. May be null.
  TraceLog* trace = nullptr;

  // This rank's images of a batch.
  [[nodiscard]] int share() const { return batch_size / world_size; }
};

// The order of these options' records, also where it follows from the mode.
[[nodiscard]] Shuffle ShuffleOf(const InputOptions& options);

// Returns the options with threads, repeat and what follows from the mode
// (last_batch, shuffle, on_bad_record) resolved. Throws UsageError naming the
// field that is out of its range, or a batch size that the ranks cannot share.
[[nodiscard]] InputOptions CheckedInputOptions(InputOptions options);

// Whether batches have labels: not where there are no images, or objects or
// views of labels, and label_key is the standard one, unless wants_labels.
[[nodiscard]] bool ReadsLabels(const InputOptions& options);

// What is done with the words of an image: RGB bytes are unpacked from them.
[[nodiscard]] PixelUse UseOfWords(const InputOptions& options);

// The shape of this rank's batches.
[[nodiscard]] BatchSpec BatchSpecOf(const InputOptions& options);

// The fields to read from each record: options.fields, then those of the boxes.
[[nodiscard]] std::vector<FieldSpec> ReadFields(const InputOptions& options);

// The most bytes of a record's ragged values.
[[nodiscard]] std::int64_t RaggedBytes(const InputOptions& options);

// RecordStoreOptions::image_key: empty where there are no images.
[[nodiscard]] std::string StoreImageKey(const InputOptions& options);

// The keys among them, borrowed.
[[nodiscard]] ExampleKeys KeysOf(const InputOptions& options);

}  // namespace infeed
