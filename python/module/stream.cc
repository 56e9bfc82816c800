#include "python/module/stream.h"

#include <optional>
#include <thread>
#include <utility>

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "base/error.h"
#include "pipeline/order/label_class.h"
#include "pipeline/order/stream_state.h"
#include "pipeline/stats/bad_record.h"
#include "pipeline/stats/text.h"
#include "pipeline/stats/verdict.h"
#include "records/bytes/plain_text.h"

#include "python/module/options.h"
#include "python/module/selection.h"

namespace infeed::python {
namespace {

namespace nb = nanobind;

using Clock = std::chrono::steady_clock;

// How long Ctrl-C may have to wait for its answer.
constexpr std::chrono::milliseconds kSlice{50};

StreamPosition ToPosition(const Place& place) {
  return {.epoch = std::get<0>(place),
          .position = std::get<1>(place),
          .past_epochs = std::get<2>(place)};
}

Place ToPlace(const StreamPosition& position) {
  return {position.epoch, position.position, position.past_epochs};
}

}  // namespace

Stream::Stream(std::shared_ptr<const RecordIndex> index,
               const nb::dict& options, const nb::object& selection,
               const nb::dict& fields, const Place& start)
    : index_(std::move(index)), options_(ReadOptions(options)) {
  options_.selection = ReadSelection(selection);
  options_.fields = ReadFieldSpecs(fields);
  const nb::gil_scoped_release release;
  // Every resume asks for it, and it may take a pass over the labels.
  options_ = ResolvedOptions(std::move(options_), *index_);
  options_.on_bad = [this](const BadRecord& bad) {
    const std::scoped_lock lock(messages_mutex_);
    messages_.push_back(std::string(BadRecordActionName(bad.action)) + ": " +
                        AsUtf8(bad.error.what()));
  };
  pipeline_ =
      std::make_unique<InputPipeline>(index_, options_, ToPosition(start));
}

std::optional<Loan> Stream::NextWithin(std::chrono::milliseconds time) {
  const nb::gil_scoped_release release;
  const Clock::time_point deadline = Clock::now() + time;
  const std::unique_lock lock(next_mutex_, deadline);
  if (!lock.owns_lock()) {
    return std::nullopt;
  }
  std::optional<BatchHandle> batch = pipeline_->NextUntil(deadline);
  return batch ? std::optional<Loan>(std::move(*batch)) : std::nullopt;
}

Loan Stream::Next() {
  struct Waiting {
    std::atomic<int>& count;
    explicit Waiting(std::atomic<int>& threads) : count(threads) { ++count; }
    ~Waiting() { --count; }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
  } const waiting(waiting_);
  for (;;) {
    if (std::optional<Loan> batch = NextWithin(kSlice)) {
      return *std::move(batch);
    }
    if (PyErr_CheckSignals() != 0) {
      throw nb::python_error();
    }
  }
}

void Stream::Stop() {
  const nb::gil_scoped_release release;
  pipeline_->Stop();
  while (waiting_ > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

std::string Stream::StateAt(const Place& place) const {
  return BuildStreamState(StateOf(*index_, options_, ToPosition(place)));
}

Place Stream::PlaceOf(const std::string& state) const {
  return ToPlace(ResumePosition(state, *index_, options_));
}

std::string Stream::StatsText() const { return StatsJson(pipeline_->stats()); }

std::string Stream::VerdictText() const { return Verdict(pipeline_->stats()); }

std::vector<std::string> Stream::TakeMessages() {
  const std::scoped_lock lock(messages_mutex_);
  return std::exchange(messages_, {});
}

void AddStream(nb::module_& module) {
  nb::class_<Stream>(module, "Stream", nb::is_weak_referenceable(),
                     "The batches of an index.")
      .def(nb::init<std::shared_ptr<const RecordIndex>, const nb::dict&,
                    const nb::object&, const nb::dict&, const Place&>(),
           nb::arg("index"), nb::arg("options"), nb::arg("selection").none(),
           nb::arg("fields"), nb::arg("start"),
           nb::sig(
               "def __init__(self, index: Index, options: dict[str, "
               "typing.Any], selection: dict[str, typing.Any] | None, "
               "fields: dict[str, str], start: tuple[int, int, int]) -> None"))
      .def("next", &Stream::Next, nb::sig("def next(self) -> Batch | None"),
           "The next batch; None at the end.")
      .def("stop", &Stream::Stop)
      .def("state_at", &Stream::StateAt, nb::arg("place"))
      .def("place_of", &Stream::PlaceOf, nb::arg("state"))
      .def("stats", &Stream::StatsText)
      .def("verdict", &Stream::VerdictText)
      .def("take_messages", &Stream::TakeMessages)
      .def_prop_ro("batches_per_epoch", &Stream::batches_per_epoch);
}

}  // namespace infeed::python
