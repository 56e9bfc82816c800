#include "pipeline/engine/input_graph.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <tuple>
#include <utility>

#include <tbb/flow_graph.h>

#include "base/bounded_queue.h"
#include "pipeline/engine/closed_arena.h"

namespace infeed {
namespace {

namespace flow = tbb::flow;

// Neighbouring slots of a batch that wait for a worker.
struct SlotRange {
  OpenBatch* batch = nullptr;
  int first = 0;
  int last = 0;  // one past the last slot
  StageCounter::Clock::time_point since;
};

// Fills slots one after the other, in the order that is best for reading.
// Returns whether one of them was the last slot of the batch to be done.
bool FillRange(SlotFiller& filler, const SlotRange& range, Sample& sample) {
  bool is_whole = false;
  sample.batch = range.batch;
  for (int slot = range.first; slot < range.last; ++slot) {
    sample.slot = slot;
    sample.since = range.since;
    if (slot + 1 < range.last) {
      filler.WillReadNext(range.batch->record(slot + 1));
    }
    filler.Read(sample);
    filler.Fill(sample);
    is_whole = range.batch->SlotDone();
    filler.UseSpareTime(sample);
  }
  return is_whole;
}

// The nodes, and a sample for each worker. The graph belongs to the arena in
// which it is made.
class Nodes {
 public:
  Nodes(SlotFiller& filler, const InputGraphOptions& options,
        InputGraph::Deliver deliver);
  ~Nodes() = default;
  Nodes(const Nodes&) = delete;
  Nodes& operator=(const Nodes&) = delete;

  void Put(OpenBatch& batch);
  void WaitUntilIdle() { graph_.wait_for_all(); }

 private:
  // Emits a batch when its last slot is filled.
  using Fill = flow::multifunction_node<SlotRange, std::tuple<OpenBatch*>>;

  int slots_per_task_;
  // One for each worker, so no worker waits for one.
  BoundedQueue<std::unique_ptr<Sample>> idle_samples_;
  flow::graph graph_;
  Fill fill_;
  flow::sequencer_node<OpenBatch*> in_order_;
  flow::function_node<OpenBatch*, flow::continue_msg> deliver_;
};

Nodes::Nodes(SlotFiller& filler, const InputGraphOptions& options,
             InputGraph::Deliver deliver)
    : slots_per_task_(options.slots_per_task),
      idle_samples_(static_cast<std::size_t>(options.threads)),
      fill_(graph_, static_cast<std::size_t>(options.threads),
            [this, &filler](const SlotRange& range,
                            Fill::output_ports_type& ports) {
              std::unique_ptr<Sample> sample = idle_samples_.Pop().value();
              const bool is_whole = FillRange(filler, range, *sample);
              idle_samples_.Push(std::move(sample));
              if (is_whole) {
                std::get<0>(ports).try_put(range.batch);
              }
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
  flow::make_edge(flow::output_port<0>(fill_), in_order_);
  flow::make_edge(in_order_, deliver_);
}

void Nodes::Put(OpenBatch& batch) {
  const int samples = batch.plan().samples;
  if (samples == 0) {
    in_order_.try_put(&batch);  // All slots are padding.
  }
  // The last slot's worker may deliver the batch before this loop ends, so the
  // loop must not read the batch.
  for (int slot = 0; slot < samples; slot += slots_per_task_) {
    fill_.try_put({&batch, slot, std::min(slot + slots_per_task_, samples),
                   StageCounter::Clock::now()});
  }
}

}  // namespace

class InputGraph::Impl {
 public:
  Impl() = default;
  virtual ~Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  virtual void Put(OpenBatch& batch) = 0;
};

// The nodes in an arena of their own.
class InputGraph::Flow final : public InputGraph::Impl {
 public:
  Flow(SlotFiller& filler, const InputGraphOptions& options, Deliver deliver)
      : arena_(options.threads) {
    arena_.Execute(
        [&] { nodes_.emplace(filler, options, std::move(deliver)); });
  }
  ~Flow() override { nodes_->WaitUntilIdle(); }  // Afterwards the threads end.
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;

  void Put(OpenBatch& batch) override { nodes_->Put(batch); }

 private:
  ClosedArena arena_;
  std::optional<Nodes> nodes_;
};

// One sample after the other in the caller's thread.
class InputGraph::Basic final : public InputGraph::Impl {
 public:
  Basic(SlotFiller& filler, Deliver deliver)
      : filler_(filler),
        deliver_(std::move(deliver)),
        sample_(filler.options()) {}

  void Put(OpenBatch& batch) override {
    const int samples = batch.plan().samples;
    (void)FillRange(filler_, {&batch, 0, samples, StageCounter::Clock::now()},
                    sample_);
    deliver_(batch);
  }

 private:
  SlotFiller& filler_;
  Deliver deliver_;
  Sample sample_;
};

InputGraph::InputGraph(SlotFiller& filler, const InputGraphOptions& options,
                       Deliver deliver) {
  if (options.threads == 0) {
    impl_ = std::make_unique<Basic>(filler, std::move(deliver));
  } else {
    impl_ = std::make_unique<Flow>(filler, options, std::move(deliver));
  }
}

InputGraph::~InputGraph() = default;

void InputGraph::Put(OpenBatch& batch) { impl_->Put(batch); }

}  // namespace infeed
