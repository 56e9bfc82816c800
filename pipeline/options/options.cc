#include "pipeline/options/options.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <thread>

#include <fmt/format.h>

#include "base/error.h"
#include "pipeline/options/input_table.h"
#include "preprocess/recipe/boxes.h"

namespace infeed {
namespace {

// Throws where a value is above what another option allows.
void CheckMost(std::string_view name, int value, int most,
               std::string_view other, int limit) {
  if (value > most) {
    throw UsageError(fmt::format("{}={}: must be at most {}, as {}={}", name,
                                 value, most, other, limit));
  }
}

// Adds the fields of the objects, and the filter of an IoU crop.
void ResolveObjects(InputOptions& options) {
  AddObjectFields(options.objects, options.layout != BatchContent::kNone,
                  options.fields);
  CheckIouCrop(options.preprocess.crop, options.objects);
  options.objects.filter.centre_in_window =
      options.preprocess.crop.iou_crop && options.training;
  if (options.objects.is_on()) {
    CheckBoxOptions(options.objects.filter, options.training
                                                ? options.preprocess.augment
                                                : AugmentOptions());
  }
}

void CheckKeys(const InputOptions& options) {
  const bool has_image_key = !options.image_key.empty();
  if (!has_image_key || (options.label_key.empty() && ReadsLabels(options))) {
    throw UsageError(std::string(has_image_key ? "label_key" : "image_key") +
                     " is empty: give a key of the records");
  }
}

// What only programs can set to other values.
void CheckProgramsValues(const InputOptions& options) {
  if (options.layout == BatchContent::kChoices) {
    throw UsageError("layout: must be words, rgb or none");
  }
  const int offset = options.label_offset.value_or(0);
  if (offset != 0 && offset != 1) {
    throw UsageError(fmt::format("label_offset={}: must be 0 or 1", offset));
  }
  if (!options.batch_memory.pin != !options.batch_memory.unpin) {
    throw UsageError("batch_memory: pin and unpin must both be set, or none");
  }
}

// Other orders begin each epoch with the same records, and would never come to
// the rest.
void CheckRepeats(const InputOptions& options) {
  const Shuffle shuffle = ShuffleOf(options);
  if (options.training && options.repeat_augment > 1 &&
      shuffle != Shuffle::kGlobal && shuffle != Shuffle::kTorch) {
    throw UsageError(fmt::format(
        "repeat_augment={} and shuffle={}: an epoch takes only the first part "
        "of its order, so the order must be shuffled as a whole: give "
        "shuffle=global or torch",
        options.repeat_augment, ChoiceName(shuffle, kShuffles)));
  }
}

// An evaluation ends with its epoch, so no later one takes the last images.
void CheckLastBatch(const InputOptions& options) {
  if (!options.training && options.last_batch == LastBatch::kCarry) {
    throw UsageError(
        "last_batch=carry and training=false: an evaluation would leave out "
        "the images that do not fill a batch: give last_batch=pad, which keeps "
        "them in a batch with empty slots");
  }
}

// The basic graph fills each slot in the consumer's thread.
void CheckWorkers(const InputOptions& options) {
  if (!options.workers.empty() && options.graph == GraphKind::kBasic) {
    throw UsageError(
        "workers and graph=basic: this graph makes one image after the other "
        "in the consumer's thread: leave workers out, or give graph=flow");
  }
}

// Sets the options whose default depends on the mode (training or not).
void ResolveByMode(InputOptions& options) {
  if (options.last_batch == LastBatch::kByMode) {
    options.last_batch = options.training ? LastBatch::kDrop : LastBatch::kPad;
  }
  if (options.on_bad_record == OnBadRecord::kByMode) {
    options.on_bad_record =
        options.training ? OnBadRecord::kReplace : OnBadRecord::kSkip;
  }
  options.shuffle = ShuffleOf(options);
  if (options.layout == BatchContent::kNone) {
    options.seek_index = SeekIndexes::kOff;
  }
  if (!options.training) {
    options.repeat = options.repeat == 0 ? 1 : options.repeat;
    options.repeat_augment = 1;
  }
}

}  // namespace

Shuffle ShuffleOf(const InputOptions& options) {
  if (options.shuffle != Shuffle::kByMode) {
    return options.shuffle;
  }
  return options.training ? Shuffle::kGlobal : Shuffle::kNone;
}

InputOptions CheckedInputOptions(InputOptions options) {
  CheckInputRanges(options);
  if (options.views.empty()) {  // A view may need what only another one has.
    CheckInputNeeds(options);
  }
  CheckPreprocessOptions(options.preprocess);
  CheckProgramsValues(options);
  CheckKeys(options);
  CheckFields(options.fields);
  ResolveObjects(options);
  CheckViews(options);
  CheckRepeats(options);
  CheckLastBatch(options);
  CheckWorkers(options);
  CheckMost("rank", options.rank, options.world_size - 1, "world_size",
            options.world_size);
  CheckMost("local_world_size", options.local_world_size, options.world_size,
            "world_size", options.world_size);
  CheckMost("max_lent", options.max_lent, options.batches_in_pool - 1,
            "batches_in_pool", options.batches_in_pool);
  const int crops = options.training ? 1 : options.preprocess.crop.eval_crops;
  if (options.batch_size % (options.world_size * crops) != 0) {
    throw UsageError(fmt::format(
        "batch_size {} is not a multiple of world_size {}{}: every rank takes "
        "an equal part",
        options.batch_size, options.world_size,
        crops == 1 ? "" : fmt::format(" times eval_crops {}", crops)));
  }
  if (options.threads == 0) {
    const unsigned cores = std::thread::hardware_concurrency();
    options.threads = cores == 0 ? 1 : static_cast<int>(cores);
  }
  if (options.graph == GraphKind::kBasic) {
    options.threads = 1;  // The consumer's thread.
    options.prefetch_batches = 0;
  }
  ResolveByMode(options);
  return options;
}

bool ReadsLabels(const InputOptions& options) {
  const bool has_targets =
      options.objects.is_on() ||
      std::ranges::any_of(options.views, &ViewSpec::is_labels);
  const bool has_more = !options.fields.empty() || !options.views.empty();
  if (options.label_key.empty() && has_more) {
    return false;  // No record has one: label_class.h.
  }
  return (options.layout != BatchContent::kNone && !has_targets) ||
         options.wants_labels || options.label_key != kLabelKey;
}

PixelUse UseOfWords(const InputOptions& options) {
  return {.read = options.layout == BatchContent::kRgb,
          .hashed = options.input_hash == InputHash::kPixels};
}

BatchSpec BatchSpecOf(const InputOptions& options) {
  BatchSpec spec = {.size = options.share(),
                    .image_size = options.preprocess.image_size,
                    .content = options.layout,
                    .fields = options.fields};
  for (const ViewSpec& view : options.views) {
    spec.views.push_back({.image_size = view.preprocess.image_size,
                          .content = view.content,
                          .fill = view.fill});
  }
  return spec;
}

std::vector<FieldSpec> ReadFields(const InputOptions& options) {
  std::vector<FieldSpec> fields = options.fields;
  std::ranges::copy(BoxFields(options.objects), std::back_inserter(fields));
  return fields;
}

std::int64_t RaggedBytes(const InputOptions& options) {
  // 340 boxes with two numbers each; an image of COCO has up to 93.
  constexpr std::int64_t kObjects = std::int64_t{16} << 10;
  return options.max_field_bytes + (options.objects.is_on() ? kObjects : 0);
}

std::string StoreImageKey(const InputOptions& options) {
  return options.layout == BatchContent::kNone ? "" : options.image_key;
}

ExampleKeys KeysOf(const InputOptions& options) {
  return {.image = options.image_key, .label = options.label_key};
}

}  // namespace infeed
