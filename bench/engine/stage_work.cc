#include "bench/engine/stage_work.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "base/choices.h"
#include "base/error.h"
#include "base/seconds.h"
#include "pipeline/order/sample_order.h"
#include "pipeline/reading/sample_seek_index.h"
#include "pipeline/stats/stage_counters.h"
#include "preprocess/pixels/image_size.h"
#include "preprocess/recipe/interpolation.h"
#include "preprocess/recipe/recipe.h"
#include "preprocess/resize/sink.h"
#include "records/example/imagenet_example.h"
#include "records/store/record_store.h"
#include "records/store/seek_file.h"

namespace infeed {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Choices<Stage, 4> kStages = {{{"all", Stage::kAll},
                                        {"read", Stage::kRead},
                                        {"decode", Stage::kDecode},
                                        {"resize", Stage::kResize}}};

// A record after the pipeline's read stage.
struct HeldRecord {
  std::vector<std::byte> buffer = {};
  RecordPayload payload = {};        // a view into buffer
  ImagenetExampleView example = {};  // views into buffer
  SampleSeekIndex seek_index = {};
};

// Reads the records of a stream in stream order, as the pipeline's read stage
// does: bytes, checksums, the Example, the seek index. The index must outlive
// it. Thread-safe.
class StreamReader {
 public:
  StreamReader(const RecordIndex& index, const InputOptions& input)
      : order_(ShardSizes(index, input.max_records), input),
        store_(index, {.verify_checksums = input.verify_checksums,
                       .image_key = input.image_key}),
        seek_store_(index, SeekStore::kMaxOpen, input.image_key),
        image_key_(input.image_key),
        label_key_(input.label_key),
        use_seek_indexes_(input.seek_index != SeekIndexes::kOff) {}

  // The order of the epoch to which a place of the endless stream belongs.
  [[nodiscard]] EpochOrder EpochOf(std::int64_t place) const {
    return order_.Epoch(static_cast<std::uint32_t>(place / places()));
  }
  [[nodiscard]] std::int64_t places() const { return order_.places(); }

  // Reads the record at a place of the stream into `held`, whose buffers are
  // reused. Throws DataError, IoError. Requires: epoch is EpochOf(place).
  void Read(std::int64_t place, const EpochOrder& epoch,
            HeldRecord& held) const {
    const std::int64_t record = epoch.RecordAt(place % places());
    held.payload = store_.ReadPayload(record, held.buffer);
    held.example =
        ParseImagenetExample(held.payload.bytes, LabelList::kOne,
                             {.image = image_key_, .label = label_key_});
    held.seek_index.opened.reset();
    if (use_seek_indexes_) {
      const std::span<const std::byte> beside = ReadIndexBeside(
          held.example, record, seek_store_, held.seek_index.buffer);
      OpenIndex(held.payload, held.example, beside, held.seek_index);
    }
  }

 private:
  SampleOrder order_;
  RecordStore store_;
  SeekStore seek_store_;
  std::string image_key_;
  std::string label_key_;
  bool use_seek_indexes_;
};

using Records = std::vector<std::unique_ptr<HeldRecord>>;

// The first records of a stream that hold JPEGs or other images, as many as
// fit: at most 1,024, in at most a quarter of the memory limit. Throws
// DataError if there are none.
Records HoldRecords(const RecordIndex& index, const InputOptions& input) {
  constexpr std::int64_t kMostRecords = 1024;
  const StreamReader reader(index, input);
  const EpochOrder epoch = reader.EpochOf(0);
  const std::int64_t most = std::min(kMostRecords, reader.places());
  std::int64_t bytes = input.memory_limit / 4;
  Records held;
  for (std::int64_t place = 0; place < most && bytes > 0; ++place) {
    auto record = std::make_unique<HeldRecord>();
    try {
      reader.Read(place, epoch, *record);
    } catch (const DataError&) {
      continue;  // The pipeline reports the error.
    }
    if (!record->example.encoded.empty() && record->example.packed.empty()) {
      bytes -= static_cast<std::int64_t>(record->buffer.size());
      held.push_back(std::move(record));
    }
  }
  if (held.empty()) {
    throw DataError(
        "none of the first records holds an encoded image: nothing to decode");
  }
  return held;
}

// Drops the decoder's rows: to measure the decode alone.
class NoResize final : public ResizeSink {
 public:
  using ResizeSink::ResizeSink;

  void Begin(int width, int /*height*/) override {
    band_.SetRow(width * std::ptrdiff_t{3}, 0);
    out_y_ = rows_.count;  // complete
  }
  void Filled() override {}
};

// A resize's input window and parameters.
struct HeldWindow {
  RgbImage image = {};
  ResizeKernel kernel = {};
  bool flip = false;
  std::optional<ResizeSides> sides = {};
};

// Stores the decoder's rows, without resizing, in a window that the caller
// owns.
class KeepWindow final : public ResizeSink {
 public:
  KeepWindow(const ImageSize& size, HeldWindow& window)
      : ResizeSink(size), window_(window), sink_(window.image) {}

  void Begin(int width, int height) override {
    window_.flip = flip_;
    window_.sides = sides_;
    sink_.Begin(width, height);
    out_y_ = rows_.count;  // complete
  }
  RgbRows Next(int rows) override { return sink_.Next(rows); }
  void Filled() override { sink_.Filled(); }

 private:
  HeldWindow& window_;
  ImageSink sink_;
};

PreprocessOptions WithoutAugment(const InputOptions& input) {
  PreprocessOptions options = input.preprocess;
  options.augment = {};
  return options;
}

// The key of a held record's place: each pass has different windows.
SampleKey MakeKey(std::uint64_t seed, std::int64_t place, std::size_t held) {
  const auto position = static_cast<std::uint64_t>(place);
  return {.seed = seed,
          .epoch = static_cast<std::uint32_t>(position / held),
          .position = position % held};
}

// Returns the number of decoded bytes; 0 for a bad image, whose time until the
// error counts.
std::int64_t Fill(Preprocessor& preprocessor, const HeldRecord& record,
                  const SampleKey& key, std::vector<std::uint32_t>& slot) {
  const std::optional<OpenedSeekIndex>& index = record.seek_index.opened;
  try {
    return 3 * preprocessor
                   .Fill(record.example.encoded, key, slot,
                         index ? index->body : std::span<const std::byte>())
                   .decoded_pixels;
  } catch (const DataError&) {
    return 0;
  }
}

std::vector<std::uint32_t> MakeSlot(const PreprocessOptions& options) {
  return std::vector<std::uint32_t>(options.image_size.pixels());
}

StageWork ReadWork(const RecordIndex& index, const InputOptions& input) {
  const auto reader = std::make_shared<const StreamReader>(index, input);
  return [reader]() -> StageWorker {
    return [reader, number = std::int64_t{0}, epoch = reader->EpochOf(0),
            held = std::make_shared<HeldRecord>()](std::int64_t place) mutable {
      if (place / reader->places() != number) {
        number = place / reader->places();
        epoch = reader->EpochOf(place);
      }
      const Clock::time_point start = Clock::now();
      reader->Read(place, epoch, *held);
      return StageDone{static_cast<std::int64_t>(held->payload.bytes.size()),
                       Clock::now() - start};
    };
  };
}

StageWork DecodeWork(const RecordIndex& index, const InputOptions& input) {
  const PreprocessOptions options = WithoutAugment(input);
  const auto records =
      std::make_shared<const Records>(HoldRecords(index, input));
  return [options, records, training = input.training,
          seed = input.seed]() -> StageWorker {
    const auto preprocessor = std::make_shared<Preprocessor>(
        options, training,
        Resizers(std::make_unique<NoResize>(options.image_size)));
    return [=, slot = MakeSlot(options)](std::int64_t place) mutable {
      const SampleKey key = MakeKey(seed, place, records->size());
      const Clock::time_point start = Clock::now();
      const std::int64_t bytes =
          Fill(*preprocessor, *(*records)[key.position], key, slot);
      return StageDone{bytes, Clock::now() - start};
    };
  };
}

std::vector<HeldWindow> HoldWindows(const RecordIndex& index,
                                    const InputOptions& input,
                                    const PreprocessOptions& options) {
  const Records records = HoldRecords(index, input);
  std::vector<std::uint32_t> slot = MakeSlot(options);
  std::int64_t bytes = input.memory_limit / 4;
  std::vector<HeldWindow> windows;
  for (std::size_t i = 0; i < records.size() && bytes > 0; ++i) {
    HeldWindow& window = windows.emplace_back();
    Preprocessor keeper(
        options, input.training,
        Resizers(std::make_unique<KeepWindow>(options.image_size, window)));
    const SampleKey key =
        MakeKey(input.seed, static_cast<std::int64_t>(i), records.size());
    window.kernel = KernelOf(UsedInterpolation(options, input.training), key);
    const std::int64_t decoded = Fill(keeper, *records[i], key, slot);
    bytes -= decoded;
    if (decoded == 0) {
      windows.pop_back();
    }
  }
  if (windows.empty()) {
    throw DataError("none of the first records could be decoded");
  }
  return windows;
}

StageWork ResizeWork(const RecordIndex& index, const InputOptions& input) {
  const PreprocessOptions options = WithoutAugment(input);
  const auto windows = std::make_shared<const std::vector<HeldWindow>>(
      HoldWindows(index, input, options));
  const Interpolation interpolation =
      UsedInterpolation(options, input.training);
  return [options, interpolation, windows]() -> StageWorker {
    const auto resizers =
        std::make_shared<Resizers>(interpolation, options.image_size);
    return [=, slot = MakeSlot(options)](std::int64_t place) mutable {
      const HeldWindow& window =
          (*windows)[static_cast<std::size_t>(place) % windows->size()];
      ResizeSink& resize = resizers->Of(window.kernel);
      resize.Aim(slot, window.flip, window.sides);
      PutImage(window.image.view(), resize);
      // Excludes the copy into the sink's band, which a decoder does not need.
      return StageDone{static_cast<std::int64_t>(slot.size() * sizeof(slot[0])),
                       resize.busy()};
    };
  };
}

// Threads that work until Stop() is called or one of them fails.
class Team {
 public:
  Team(std::string_view stage, const StageWork& work, int threads)
      : counter_(stage) {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this, &work] { Work(work); });
    }
  }
  ~Team() { Join(); }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  [[nodiscard]] bool is_stopped() const { return stopped_.load(); }

  // Stops the threads and returns their statistics. Throws the first error.
  StageStats Stop() {
    Join();
    if (error_) {
      std::rethrow_exception(error_);
    }
    return counter_.Read();
  }

 private:
  void Join() {
    stopped_ = true;
    for (std::thread& thread : threads_) {
      if (thread.joinable()) {
        thread.join();
      }
    }
  }

  void Work(const StageWork& work) {
    try {
      const StageWorker worker = work();
      do {
        const StageDone done = worker(next_.fetch_add(1));
        counter_.Add(done.bytes, done.busy, Clock::duration::zero());
      } while (!stopped_);
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      error_ = error_ ? error_ : std::current_exception();
      stopped_ = true;
    }
  }

  std::atomic<bool> stopped_{false};
  std::atomic<std::int64_t> next_{0};
  StageCounter counter_;
  std::mutex mutex_;
  std::exception_ptr error_;
  std::vector<std::thread> threads_;
};

}  // namespace

Stage ParseStage(std::string_view name) {
  return ParseChoice("stage", name, kStages);
}

std::string_view StageName(Stage stage) { return ChoiceName(stage, kStages); }

StageWork MakeStageWork(Stage stage, const RecordIndex& index,
                        const InputOptions& input) {
  switch (stage) {
    case Stage::kRead:
      return ReadWork(index, input);
    case Stage::kDecode:
      return DecodeWork(index, input);
    case Stage::kResize:
      return ResizeWork(index, input);
    case Stage::kAll:
      break;
  }
  std::abort();
}

ThroughputRound MeasureStage(Stage stage, const StageWork& work,
                             const InputOptions& input,
                             const RoundOptions& options) {
  const CpuCounters counters;  // Created before the threads that it counts.
  const Clock::time_point start = Clock::now();
  const auto seconds = [start] { return SecondsSince(start); };
  Team team(StageName(stage), work, input.threads);
  while (!team.is_stopped() && seconds() < options.seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(
        std::clamp(options.seconds - seconds(), 0.0, 0.1)));
    options.progress(seconds());
  }
  const StageStats done = team.Stop();

  ThroughputRound round{.images = done.items, .cpu = counters.Read()};
  round.images_per_second =
      static_cast<double>(done.items) * input.threads / done.busy_seconds;
  round.stats.elapsed_seconds = seconds();
  round.stats.threads = input.threads;
  round.stats.stages = {done};
  return round;
}

}  // namespace infeed
