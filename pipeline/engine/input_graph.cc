#include "pipeline/engine/input_graph.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <tbb/flow_graph.h>

#include "base/bounded_queue.h"
#include "pipeline/engine/closed_arena.h"
#include "pipeline/engine/range_queue.h"

namespace infeed {
namespace {

namespace flow = tbb::flow;

// Fills a slot of sample.batch, from sample.since on, which then is the end of
// its stages, and announces the record of the slot that is filled next (-1:
// none). Returns whether it was the last one of the batch to be done.
bool FillSlot(SlotFiller& filler, int slot, int next,
              StageCounter::Clock::time_point since, Sample& sample) {
  if (next >= 0) {
    filler.WillReadNext(sample.batch->record(next));
  }
  sample.slot = slot;
  sample.start = std::exchange(sample.since, since);
  filler.Read(sample);
  filler.Fill(sample);
  const bool is_whole = sample.batch->SlotDone();
  filler.UseSpareTime(sample);
  return is_whole;
}

// Fills slots one after the other, in the order that is best for reading.
// Returns whether one of them was the last slot of the batch to be done.
bool FillRange(SlotFiller& filler, const SlotRange& range, Sample& sample) {
  bool is_whole = false;
  sample.batch = range.batch;
  sample.since = StageCounter::Clock::now();
  for (std::uint64_t left = range.slots; left != 0;) {
    const int slot = range.first + std::countr_zero(left);
    left &= left - 1;
    const int next = left != 0 ? range.first + std::countr_zero(left) : -1;
    is_whole = FillSlot(filler, slot, next, range.since, sample);
  }
  return is_whole;
}

// The nodes, and a sample for each worker. The graph belongs to the arena in
// which it is made.
class Nodes final : public RangeLender {
 public:
  Nodes(SlotFiller& filler, const InputGraphOptions& options,
        InputGraph::Deliver deliver);

  void Put(OpenBatch& batch);
  // Fills what is lent, and waits until all batches are delivered.
  void Finish() {
    Issue(queue_.Recall());
    graph_.wait_for_all();
  }

  [[nodiscard]] std::optional<RangeLoan> Lend(int link, Clock::duration latency,
                                              Clock::time_point now) override;
  bool Arrive(const RangeLoan& loan, const WriteSlot& write) override;
  void Lose(const RangeLoan& loan) override { Issue(queue_.Lose(loan)); }
  void MarkLate(Clock::time_point now) override { Issue(queue_.MarkLate(now)); }

 private:
  // A worker may take a range from the queue.
  struct Ticket {};

  void Issue(int tickets);
  // Redeems a ticket, in a worker.
  void Work();

  SlotFiller& filler_;
  RangeQueue queue_;
  // One for each worker, so no worker waits for one.
  BoundedQueue<std::unique_ptr<Sample>> idle_samples_;
  flow::graph graph_;
  flow::function_node<Ticket> fill_;
  flow::sequencer_node<OpenBatch*> in_order_;
  flow::function_node<OpenBatch*> deliver_;
};

Nodes::Nodes(SlotFiller& filler, const InputGraphOptions& options,
             InputGraph::Deliver deliver)
    : filler_(filler),
      queue_(options.threads, options.slots_per_task),
      idle_samples_(static_cast<std::size_t>(options.threads)),
      fill_(graph_, static_cast<std::size_t>(options.threads),
            [this](Ticket) {
              Work();
              return flow::continue_msg{};
            }),
      in_order_(graph_,
                [](const OpenBatch* batch) {
                  return static_cast<std::size_t>(batch->number());
                }),
      deliver_(graph_, flow::serial,
               [deliver = std::move(deliver)](OpenBatch* batch) {
                 deliver(*batch);
                 return flow::continue_msg{};
               }) {
  for (int i = 0; i < options.threads; ++i) {
    idle_samples_.Push(std::make_unique<Sample>(filler.options()));
  }
  flow::make_edge(in_order_, deliver_);
}

void Nodes::Put(OpenBatch& batch) {
  if (batch.plan().samples == 0) {
    in_order_.try_put(&batch);  // All slots are padding.
    return;
  }
  Issue(queue_.Add(batch, Clock::now()));
}

void Nodes::Issue(int tickets) {
  for (int i = 0; i < tickets; ++i) {
    fill_.try_put({});
  }
}

void Nodes::Work() {
  const std::optional<SlotRange> range = queue_.Take();
  if (!range) {
    return;
  }
  std::unique_ptr<Sample> sample = idle_samples_.Pop().value();
  const Clock::time_point start = Clock::now();
  const bool is_whole = FillRange(filler_, *range, *sample);
  queue_.FilledHere(Clock::now() - start);
  idle_samples_.Push(std::move(sample));
  if (is_whole) {
    in_order_.try_put(range->batch);
  }
}

std::optional<RangeLoan> Nodes::Lend(int link, Clock::duration latency,
                                     Clock::time_point now) {
  if (filler_.is_cancelled()) {
    return std::nullopt;
  }
  return queue_.Lend(link, latency, now);
}

bool Nodes::Arrive(const RangeLoan& loan, const WriteSlot& write) {
  const RangeQueue::Arrival arrival = queue_.Arrive(loan, write);
  filler_.CountArrived(arrival.slots);
  Issue(arrival.tickets);
  if (arrival.whole != nullptr) {
    in_order_.try_put(arrival.whole);
  }
  return arrival.is_used;
}

}  // namespace

// The nodes in an arena of their own.
struct InputGraph::Flow {
  Flow(SlotFiller& filler, const InputGraphOptions& options, Deliver deliver)
      : arena(options.threads) {
    arena.Execute([&] { nodes.emplace(filler, options, std::move(deliver)); });
  }
  ~Flow() { nodes->Finish(); }  // Afterwards the threads end.
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;

  ClosedArena arena;
  std::optional<Nodes> nodes;
};

InputGraph::InputGraph(SlotFiller& filler, const InputGraphOptions& options,
                       Deliver deliver)
    : filler_(filler), deliver_(std::move(deliver)) {
  if (options.threads == 0) {
    sample_ = std::make_unique<Sample>(filler.options());
  } else {
    flow_ = std::make_unique<Flow>(filler, options, deliver_);
  }
}

InputGraph::~InputGraph() = default;

void InputGraph::Put(OpenBatch& batch) {
  if (flow_) {
    return flow_->nodes->Put(batch);
  }
  const StageCounter::Clock::time_point since = StageCounter::Clock::now();
  const int samples = batch.plan().samples;
  sample_->batch = &batch;
  sample_->since = since;
  for (int slot = 0; slot < samples; ++slot) {
    const int next = slot + 1 < samples ? slot + 1 : -1;
    (void)FillSlot(filler_, slot, next, since, *sample_);
  }
  deliver_(batch);
}

RangeLender* InputGraph::lender() { return flow_ ? &*flow_->nodes : nullptr; }

}  // namespace infeed
