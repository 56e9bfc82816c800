#include "python/module/stream.h"

#include <cstddef>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "base/error.h"
#include "base/shown_text.h"
#include "pipeline/engine/batch_lookup.h"
#include "pipeline/engine/closed_arena.h"
#include "pipeline/memory/page_memory.h"
#include "pipeline/order/batch_plan.h"
#include "pipeline/order/label_class.h"
#include "pipeline/order/sample_order.h"
#include "pipeline/order/stream_state.h"
#include "pipeline/remote/worker_settings.h"
#include "pipeline/stats/bad_record.h"
#include "pipeline/stats/text.h"
#include "pipeline/stats/verdict.h"
#include "records/bytes/plain_text.h"

#include "python/module/options.h"
#include "python/module/unlocked.h"

namespace infeed::python {
namespace {

namespace nb = nanobind;

using Clock = std::chrono::steady_clock;

// The longest time until Ctrl-C takes effect.
constexpr std::chrono::milliseconds kSlice{50};

StreamPosition ToPosition(const Place& place) {
  return {.epoch = std::get<0>(place),
          .position = std::get<1>(place),
          .past_epochs = std::get<2>(place)};
}

Place ToPlace(const StreamPosition& position, std::uint64_t fingerprint) {
  return {position.epoch, position.position, position.past_epochs, fingerprint};
}

std::uint64_t FingerprintAt(const Place& place) { return std::get<3>(place); }

// Counts a thread that is in the engine.
struct Waiting {
  std::atomic<int>& count;
  explicit Waiting(std::atomic<int>& threads) : count(threads) { ++count; }
  ~Waiting() { --count; }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
};

nb::list ListOf(const std::vector<int>& numbers) {
  nb::list list;
  for (const int number : numbers) {
    list.append(number);
  }
  return list;
}

nb::object OrNone(const std::string& text) {
  return text.empty() ? nb::none() : nb::object(nb::cast(AsUtf8(text)));
}

// Plain values, for JSON as well.
nb::object ToObject(const SampleDescription& sample, bool has_image) {
  if (sample.record < 0) {
    return nb::none();
  }
  nb::dict values;
  values["shard"] = AsUtf8(sample.shard);
  values["record"] = sample.number;
  values["filename"] = OrNone(sample.file_name);
  values["label"] =
      sample.label < 0 ? nb::none() : nb::object(nb::int_(sample.label));
  if (has_image) {
    const Geometry& geometry = sample.geometry;
    const Window& window = geometry.window;
    values["source"] = ListOf({geometry.source.height, geometry.source.width});
    values["window"] =
        ListOf({window.y, window.x, window.height, window.width});
    values["mirrored"] = geometry.is_mirrored;
    values["upside_down"] = geometry.is_upside_down;
    nb::list augmentations;
    for (const std::string& step : sample.augmentations) {
      augmentations.append(step);
    }
    values["augmentations"] = augmentations;
  }
  return values;
}

}  // namespace

Stream::Stream(std::shared_ptr<const RecordIndex> index,
               const nb::dict& options, const nb::object& selection,
               const nb::dict& fields, const nb::object& objects,
               const nb::list& views, const nb::tuple& worker_tls,
               const Place& start)
    : index_(std::move(index)), options_(ReadOptions(options)) {
  options_.selection = ReadSelection(selection);
  options_.fields = ReadFieldSpecs(fields);
  options_.objects = ReadObjects(objects, options_.fields);
  AddViews(views, options_);
  const TlsFiles tls = ReadTlsFiles(worker_tls);
  const Unlocked unlocked;
  // Resolved once: every resume needs it, and it may take a pass over the
  // labels.
  options_ = ResolvedOptions(std::move(options_), *index_);
  options_.on_bad = [this](const BadRecord& bad) {
    const std::scoped_lock lock(messages_mutex_);
    messages_.push_back(std::string(BadRecordActionName(bad.action)) + ": " +
                        ShownText(bad.error.what()));
  };
  options_.on_note = [this](const std::string& line) {
    const std::scoped_lock lock(messages_mutex_);
    notes_.push_back(ShownText(line));
  };
  // TLS files are the process's, and here each stream has its own.
  static std::mutex making;
  std::unique_lock lock(making, std::defer_lock);
  if (!options_.workers.empty()) {
    lock.lock();
    SetWorkerTls(tls);
  }
  pipeline_ = std::make_unique<InputPipeline>(
      index_, options_, ToPosition(start), FingerprintAt(start));
}

Stream::~Stream() {
  const Unlocked unlocked;
  pipeline_.reset();
}

std::optional<Loan> Stream::NextWithin(std::chrono::milliseconds time) {
  const Unlocked unlocked;
  const Clock::time_point deadline = Clock::now() + time;
  const std::unique_lock lock(next_mutex_, deadline);
  if (!lock.owns_lock()) {
    return std::nullopt;
  }
  std::optional<BatchHandle> batch = pipeline_->NextUntil(deadline);
  return batch ? std::optional<Loan>(std::move(*batch)) : std::nullopt;
}

Loan Stream::Next(const nb::callable& all_held) {
  const Waiting waiting(waiting_);
  for (;;) {
    if (std::optional<Loan> batch = NextWithin(kSlice)) {
      return *std::move(batch);
    }
    if (PyErr_CheckSignals() != 0) {
      throw nb::python_error();
    }
    if (pipeline_->all_lent() && !told_.exchange(true)) {
      all_held();
    }
  }
}

Loan Stream::BatchAt(std::uint32_t epoch, std::int64_t number,
                     const Place& place) {
  const Waiting waiting(waiting_);
  const Unlocked unlocked;
  return pipeline_->lookup().At(epoch, number, ToPosition(place));
}

nb::list Stream::Describe(const Batch& batch) {
  const Waiting waiting(waiting_);
  std::vector<SampleDescription> samples;
  {
    const Unlocked unlocked;
    samples = pipeline_->lookup().Describe(batch);
  }
  nb::list slots;
  for (const SampleDescription& sample : samples) {
    slots.append(ToObject(sample, batch.content() != BatchContent::kNone));
  }
  return slots;
}

nb::list Stream::BatchMemory() const {
  using Pages = std::shared_ptr<const PageMemory>;
  nb::list arrays;
  for (Pages& pages : pipeline_->batch_memory()) {
    const std::span<std::byte> bytes = pages->bytes();
    auto kept = std::make_unique<Pages>(std::move(pages));
    const nb::capsule owner(kept.get(), [](void* owned) noexcept {
      delete static_cast<Pages*>(owned);
    });
    (void)kept.release();
    arrays.append(nb::ndarray<nb::numpy, std::uint8_t>(bytes.data(),
                                                       {bytes.size()}, owner));
  }
  return arrays;
}

Place Stream::position() const {
  return ToPlace(pipeline_->position(), pipeline_->fingerprint());
}

void Stream::Stop() {
  if (!process_.IsCurrent()) {
    return;  // After fork(): the waiting threads are in the parent process.
  }
  const Unlocked unlocked;
  pipeline_->Stop();
  while (waiting_ > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

std::string Stream::StateAt(const Place& place) const {
  return BuildStreamState(
      StateOf(*index_, options_, ToPosition(place), FingerprintAt(place)));
}

Place Stream::PlaceOf(const std::string& text) const {
  const InputOptions checked = CheckedInputOptions(options_);
  const SampleOrder order(ShardSizes(*index_, checked.max_records), checked);
  const StreamState state = ResumeState(text, *index_, options_);
  const BatchSequence sequence(order.places(), checked, state.position);
  return ToPlace(sequence.position(), state.fingerprint);
}

std::string Stream::StatsText() const { return StatsJson(pipeline_->stats()); }

std::string Stream::VerdictText() const { return Verdict(pipeline_->stats()); }

std::vector<std::string> Stream::TakeMessages() {
  const std::scoped_lock lock(messages_mutex_);
  return std::exchange(messages_, {});
}

std::vector<std::string> Stream::TakeNotes() {
  const std::scoped_lock lock(messages_mutex_);
  return std::exchange(notes_, {});
}

void AddStream(nb::module_& module) {
  nb::class_<Stream>(module, "Stream", nb::is_weak_referenceable(),
                     "The batches of an index.")
      .def(nb::init<std::shared_ptr<const RecordIndex>, const nb::dict&,
                    const nb::object&, const nb::dict&, const nb::object&,
                    const nb::list&, const nb::tuple&, const Place&>(),
           nb::arg("index"), nb::arg("options"), nb::arg("selection").none(),
           nb::arg("fields"), nb::arg("objects").none(), nb::arg("views"),
           nb::arg("worker_tls"), nb::arg("start"),
           nb::sig(
               "def __init__(self, index: Index, options: dict[str, "
               "typing.Any], selection: tuple[typing.Any, typing.Any, int] | "
               "None, "
               "fields: dict[str, tuple[typing.Any, ...]], objects: "
               "tuple[typing.Any, ...] | None, views: list[dict[str, "
               "typing.Any]], worker_tls: tuple[bytes, bytes, bytes], "
               "start: tuple[int, int, int, int]) -> None"))
      .def("next", &Stream::Next, nb::arg("all_held"),
           nb::sig("def next(self, all_held: "
                   "collections.abc.Callable[[], None]) -> Batch | None"),
           "The next batch; None at the end. all_held: called once where the "
           "caller holds all batches and there are no copies.")
      .def("batch_at", &Stream::BatchAt, nb::arg("epoch"), nb::arg("number"),
           nb::arg("place"),
           "One batch of any epoch of the stream that comes through the place.")
      .def("describe", &Stream::Describe, nb::arg("batch"),
           nb::sig("def describe(self, batch: Batch) -> "
                   "list[dict[str, typing.Any] | None]"),
           "Each slot of a batch: its record, and how its image was made.")
      .def("batch_memory", &Stream::BatchMemory,
           nb::sig("def batch_memory(self) -> list[typing.Any]"),
           "uint8 arrays over the memory of the batches that next() lends, but "
           "not of copies: mapped while an array exists.")
      .def_prop_ro("position", &Stream::position,
                   "After the last batch: epoch, position, past epochs, "
                   "fingerprint.")
      .def("stop", &Stream::Stop)
      .def("state_at", &Stream::StateAt, nb::arg("place"))
      .def("place_of", &Stream::PlaceOf, nb::arg("state"))
      .def("stats", &Stream::StatsText)
      .def("verdict", &Stream::VerdictText)
      .def("take_messages", &Stream::TakeMessages)
      .def("take_notes", &Stream::TakeNotes)
      .def_prop_ro("has_labels", &Stream::has_labels)
      .def_prop_ro("epoch_samples", &Stream::epoch_samples,
                   "Samples of an epoch in its batches, without padding.");
  module.def("threads_work", &ClosedArena::WorksHere,
             "False after a fork() of a process with streams: then graph=basic "
             "works.");
}

}  // namespace infeed::python
