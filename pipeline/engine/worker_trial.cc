#include "pipeline/engine/worker_trial.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <future>
#include <iterator>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/ratio.h"
#include "base/seconds.h"
#include "base/shown_text.h"
#include "pipeline/order/batch_plan.h"
#include "pipeline/order/label_class.h"
#include "pipeline/order/sample_order.h"
#include "pipeline/reading/opened_data.h"
#include "pipeline/remote/messages.h"
#include "pipeline/remote/range_check.h"
#include "pipeline/remote/worker_list.h"
#include "pipeline/remote/worker_settings.h"
#include "pipeline/slots/open_batch.h"
#include "pipeline/slots/range_filler.h"
#include "pipeline/stats/process_usage.h"
#include "pipeline/stats/stats.h"

namespace infeed {
namespace {

using Clock = WorkerLink::Clock;
using Slots = std::vector<SlotRequest>;

constexpr std::size_t kSlots = 64;
constexpr int kMostWorkers = 64;

// The first slots of the stream, of all ranks.
Slots FirstSlots(const RecordIndex& index, InputOptions options) {
  options.rank = 0;
  options.world_size = 1;
  const SampleOrder order(ShardSizes(index, options.max_records), options);
  BatchSequence sequence(order.places(), options, {});
  CurrentEpoch epoch(order);
  Slots slots;
  while (slots.size() < kSlots) {
    const std::optional<BatchPlan> plan = sequence.Next();
    if (!plan) {
      break;
    }
    const PlannedBatch batch = WithRecords(*plan, epoch);
    for (int slot = 0; slot < plan->samples && slots.size() < kSlots; ++slot) {
      slots.push_back(RequestOf(*plan, slot,
                                batch.records[static_cast<std::size_t>(slot)]));
    }
  }
  return slots;
}

std::vector<Slots> RangesOf(const Slots& slots, std::size_t most) {
  std::vector<Slots> ranges;
  for (std::size_t begin = 0; begin < slots.size(); begin += most) {
    const std::size_t end = std::min(begin + most, slots.size());
    ranges.emplace_back(slots.begin() + static_cast<std::ptrdiff_t>(begin),
                        slots.begin() + static_cast<std::ptrdiff_t>(end));
  }
  return ranges;
}

double PerThousand(double seconds, std::size_t slots) {
  return 1000 * Ratio(seconds, static_cast<double>(slots));
}

// A worker's answer to a request for a range.
struct FillAnswer {
  bool is_busy = false;
  std::string fault = {};  // in words; empty: the slots came
  FillNote note = {};
  RangeComparison comparison = {};
  double seconds = 0;  // CPU time of this process
};

FillAnswer FailedAnswer(const RpcStatus& status) {
  return {.is_busy = status.code == RpcCode::kBusy,
          .fault = "it did not fill a range: " + ShownText(status.message)};
}

// A worker that is tried.
struct TriedWorker {
  TriedWorker(const std::string& address, const LinkTimes& times)
      : link(0, address, times) {
    result.address = address;
  }

  WorkerLink link;
  WorkerTrial result = {};
  std::unique_ptr<RpcChannel> channel = {};
};

struct OpenEnd {
  RpcStatus status = {};
  OpenAnswer answer = {};
};

void NoteOpened(const OpenEnd& end, TriedWorker& worker) {
  const Clock::time_point now = Clock::now();
  WorkerTrial& result = worker.result;
  result.problem = worker.link.Opened(end.status, end.answer, true, now, 1);
  result.is_refusal = worker.link.state() == WorkerLink::State::kRefused;
  result.name = worker.link.stats(now).name;
}

// The stream of a trial: its slots, filled here, and how workers are asked for
// them.
class TrialStream {
 public:
  TrialStream(RpcLibrary& library, const RecordIndex& index,
              const InputOptions& given, const LinkTimes& times)
      : library_(library),
        index_(index),
        times_(times),
        data_(index, ResolvedOptions(CheckedInputOptions(given), index)),
        options_(data_.options),
        range_(SlotsPerTask(options_)),
        ranges_(RangesOf(FirstSlots(index, options_),
                         static_cast<std::size_t>(range_))),
        addresses_(WorkerList(options_.workers).Addresses()) {
    const std::vector<std::int64_t> records(static_cast<std::size_t>(range_),
                                            -1);
    BatchSpec spec = BatchSpecOf(options_);
    spec.size = range_;
    batch_.Begin(0, {.plan = {.samples = range_}, .records = records},
                 BatchHandle(new Batch(std::move(spec))));
  }

  [[nodiscard]] WorkersTrial Try();

 private:
  [[nodiscard]] std::vector<std::unique_ptr<TriedWorker>> OpenAll();
  // Fills the slots here; returns the CPU time for all of them.
  [[nodiscard]] double FillHere();
  // Has an open worker fill all ranges.
  void FillThere(TriedWorker& worker);
  static void Add(const RangeComparison& comparison, TriedWorker& worker);
  [[nodiscard]] FillAnswer Ask(TriedWorker& worker, std::size_t range);
  [[nodiscard]] FillAnswer AskOnce(TriedWorker& worker, std::size_t range);
  // The end of AskOnce(), in the library's thread.
  [[nodiscard]] FillAnswer Receive(std::size_t range, RpcPieces reply,
                                   double begin);

  RpcLibrary& library_;
  const RecordIndex& index_;
  const LinkTimes times_;
  OpenedData data_;
  const InputOptions& options_;
  const int range_;  // slots
  const std::vector<Slots> ranges_;
  const std::vector<std::string> addresses_;  // of the list, sorted
  std::vector<std::unique_ptr<FilledRange>> here_;
  // Into which workers' slots are copied, as a trainer does.
  OpenBatch batch_;
};

WorkersTrial TrialStream::Try() {
  WorkersTrial trial = {.has_images = options_.layout != BatchContent::kNone,
                        .listed = static_cast<int>(addresses_.size()),
                        .range = range_};
  for (const Slots& range : ranges_) {
    trial.slots += static_cast<int>(range.size());
  }
  const auto workers = OpenAll();
  if (std::ranges::any_of(
          workers, [](const auto& one) { return one->link.is_open(); })) {
    trial.fill_seconds =
        PerThousand(FillHere(), static_cast<std::size_t>(trial.slots));
  }
  for (const auto& worker : workers) {
    if (worker->link.is_open()) {
      FillThere(*worker);
    }
    trial.workers.push_back(std::move(worker->result));
  }
  return trial;
}

// All at once: one that does not answer takes ten seconds.
std::vector<std::unique_ptr<TriedWorker>> TrialStream::OpenAll() {
  std::vector<std::unique_ptr<TriedWorker>> workers;
  for (const std::string& address :
       ChosenWorkers(addresses_, "trial", kMostWorkers)) {
    workers.push_back(std::make_unique<TriedWorker>(address, times_));
  }
  if (workers.empty()) {
    throw IoError("workers=" + options_.workers + ": has no address now");
  }
  const RpcAccess access = WorkerAccess();
  const std::string request = Serialize(OpenRequestOf(index_, options_));
  std::vector<std::future<OpenEnd>> ends;
  for (const auto& worker : workers) {
    worker->channel = library_.Connect(worker->link.address(), access,
                                       MostReplyBytes(options_, range_));
    // Shared, as the call's thread may still use it when the value is there.
    const auto end = std::make_shared<std::promise<OpenEnd>>();
    ends.push_back(end->get_future());
    worker->channel->Call(
        kOpenMethod, request, times_.open,
        [end](const RpcStatus& status, RpcPieces reply) {
          end->set_value({status, OpenAnswerOf(status, reply)});
        });
  }
  for (std::size_t i = 0; i < ends.size(); ++i) {
    NoteOpened(ends[i].get(), *workers[i]);
  }
  return workers;
}

double TrialStream::FillHere() {
  RangeFiller filler(data_.store, data_.seek_store, OptionsOfWorkers(options_));
  const auto fill = [&](const Slots& slots, FilledRange& range) {
    Check(filler.Fill(
              slots, [] { return false; }, range),
          "nobody cancels the filling");
    if (range.error()) {
      std::rethrow_exception(range.error());
    }
  };
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    here_.push_back(std::make_unique<FilledRange>(filler.options(), range_));
  }
  fill(ranges_.front(), *here_.front());
  const double begin = CpuSeconds();
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    fill(ranges_[i], *here_[i]);
  }
  return CpuSeconds() - begin;
}

void TrialStream::FillThere(TriedWorker& worker) {
  WorkerTrial& result = worker.result;
  FillAnswer answer = Ask(worker, 0);
  LinkLatencies latencies;
  double there = 0;
  double receiving = 0;
  std::size_t slots = 0;
  for (std::size_t i = 0; i < ranges_.size() && answer.fault.empty(); ++i) {
    const Clock::time_point begin = Clock::now();
    answer = Ask(worker, i);
    latencies.Add(Clock::now() - begin);
    there += ToSeconds(std::chrono::nanoseconds(answer.note.cpu_nanoseconds));
    receiving += answer.seconds;
    slots += ranges_[i].size();
    Add(answer.comparison, worker);
  }
  result.fill_seconds = PerThousand(there, slots);
  result.receive_seconds = PerThousand(receiving, slots);
  result.latency_seconds = ToSeconds(latencies.median());
  if (!answer.fault.empty()) {
    result.problem = worker.link.Title() + ": " + answer.fault;
  } else if (result.compared == 0) {
    result.problem = worker.link.Title() +
                     ": no slot could be compared, as their records are bad "
                     "here, or there";
  }
}

void TrialStream::Add(const RangeComparison& comparison, TriedWorker& worker) {
  WorkerTrial& result = worker.result;
  result.compared += comparison.compared;
  result.differing += comparison.differing;
  if (result.problem.empty() && comparison.differing > 0) {
    result.problem = worker.link.Title() +
                     " fills slots differently: " + comparison.difference;
  }
}

// Asks again while the worker has enough ranges of others.
FillAnswer TrialStream::Ask(TriedWorker& worker, std::size_t range) {
  const Clock::time_point end = Clock::now() + times_.least_fill;
  FillAnswer answer = AskOnce(worker, range);
  while (answer.is_busy && Clock::now() < end) {
    std::this_thread::sleep_for(times_.tick);
    answer = AskOnce(worker, range);
  }
  return answer;
}

FillAnswer TrialStream::AskOnce(TriedWorker& worker, std::size_t range) {
  const auto end = std::make_shared<std::promise<FillAnswer>>();
  std::future<FillAnswer> answer = end->get_future();
  std::string request =
      Serialize({.key = worker.link.key(), .slots = ranges_[range]});
  worker.channel->Call(
      kFillMethod, std::move(request), worker.link.FillTimeout(),
      [this, end, range, begin = CpuSeconds()](const RpcStatus& status,
                                               RpcPieces reply) {
        end->set_value(status.is_ok() ? Receive(range, reply, begin)
                                      : FailedAnswer(status));
      });
  return answer.get();
}

FillAnswer TrialStream::Receive(std::size_t range, RpcPieces reply,
                                double begin) {
  const Slots& slots = ranges_[range];
  try {
    FilledSlots filled(options_, static_cast<int>(slots.size()), reply,
                       options_.verify_checksums);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      (void)filled.Write(batch_, static_cast<int>(i), i);
    }
    FillAnswer answer = {.note = filled.note(),
                         .seconds = CpuSeconds() - begin};
    answer.comparison = CompareRanges(slots, filled, *here_[range]);
    if (filled.wrong_sums() > 0) {
      answer.fault = "slots of a reply do not have their checksums";
    }
    return answer;
  } catch (const DataError& error) {
    return {.fault = std::string("a reply is damaged: ") + error.what()};
  }
}

// "0.076".
std::string Rounded(double value, int decimals) {
  std::array<char, 64> text = {};
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), value,
                    std::chars_format::fixed, decimals);
  return error == std::errc() ? std::string(text.data(), end) : "?";
}

}  // namespace

std::string WorkersTrial::Describe(const WorkerTrial& worker) const {
  const std::string items(ItemsName(has_images));
  if (worker.differing > 0) {
    return std::to_string(worker.differing) + " of " +
           std::to_string(worker.compared) + " " + items + " differ";
  }
  if (!worker.problem.empty()) {
    return worker.is_refusal ? "refuses the stream" : "cannot be used";
  }
  std::string text = (worker.name.empty() ? "" : worker.name + ": ") +
                     std::to_string(worker.compared) + " " + items +
                     " are the same";
  if (worker.compared < slots) {
    text +=
        ", " + std::to_string(slots - worker.compared) + " were not compared";
  }
  return text + "; CPU s per 1,000: " + Rounded(worker.fill_seconds, 3) +
         " there, " + Rounded(worker.receive_seconds, 3) +
         " here to receive them; " + std::to_string(range) + " take " +
         Rounded(1e3 * worker.latency_seconds, 1) + " ms";
}

std::string WorkersTrial::Conclusion() const {
  double receiving = 0;
  int usable = 0;
  for (const WorkerTrial& worker : workers) {
    if (worker.problem.empty()) {
      receiving += worker.receive_seconds;
      ++usable;
    }
  }
  const std::string tried = std::ssize(workers) < listed
                                ? std::to_string(workers.size()) + " of " +
                                      std::to_string(listed) +
                                      " workers were tried"
                                : "";
  if (usable == 0) {
    return tried;
  }
  const double cost = receiving / usable;
  return tried + (tried.empty() ? "" : "; ") + "receiving costs " +
         Rounded(cost, 3) + " CPU s per 1,000 " +
         std::string(ItemsName(has_images)) + ", filling here " +
         Rounded(fill_seconds, 3) + ": a core feeds " +
         Rounded(Ratio(fill_seconds, cost), 1) + " times as many";
}

WorkersTrial TryWorkers(RpcLibrary& library, const RecordIndex& index,
                        const InputOptions& options, const LinkTimes& times) {
  return TrialStream(library, index, options, times).Try();
}

void RequireUsable(const WorkerTrial& worker) {
  if (worker.problem.empty()) {
    return;
  }
  if (worker.is_refusal) {
    throw UsageError(worker.problem);
  }
  throw IoError(worker.problem);
}

}  // namespace infeed
