#include "pipeline/input_graph.h"

#include <cstddef>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <tbb/flow_graph.h>

#include "base/bounded_queue.h"
#include "pipeline/closed_arena.h"

namespace infeed {
namespace {

namespace flow = tbb::flow;

// A slot that waits for its sample.
struct Vacancy {
  OpenBatch* batch = nullptr;
  int slot = 0;
  StageCounter::Clock::time_point since;
};

// The nodes and the samples that travel between them. The graph belongs to the
// arena in which it is made.
class Nodes {
 public:
  Nodes(SlotFiller& filler, int samples_in_flight, InputGraph::Deliver deliver);
  ~Nodes() = default;
  Nodes(const Nodes&) = delete;
  Nodes& operator=(const Nodes&) = delete;

  void Put(OpenBatch& batch);
  void WaitUntilIdle() { graph_.wait_for_all(); }

 private:
  // Port 0: a batch whose last slot was filled. Port 1: a sample is done.
  using Fill =
      flow::multifunction_node<Sample*,
                               std::tuple<OpenBatch*, flow::continue_msg>>;

  std::vector<Sample> samples_;
  BoundedQueue<Sample*> idle_samples_;  // Never waited for: see limit_.
  flow::graph graph_;
  flow::queue_node<Vacancy> waiting_;
  flow::limiter_node<Vacancy> limit_;
  flow::function_node<Vacancy, Sample*> read_;
  Fill fill_;
  flow::sequencer_node<OpenBatch*> in_order_;
  flow::function_node<OpenBatch*, flow::continue_msg> deliver_;
};

Nodes::Nodes(SlotFiller& filler, int samples_in_flight,
             InputGraph::Deliver deliver)
    : samples_(static_cast<std::size_t>(samples_in_flight)),
      idle_samples_(samples_.size()),
      waiting_(graph_),
      limit_(graph_, samples_.size()),
      read_(graph_, flow::unlimited,
            [this, &filler](const Vacancy& vacancy) {
              Sample* const sample = idle_samples_.Pop().value();
              sample->batch = vacancy.batch;
              sample->slot = vacancy.slot;
              sample->since = vacancy.since;
              filler.Read(*sample);
              return sample;
            }),
      fill_(graph_, flow::unlimited,
            [this, &filler](Sample* sample, Fill::output_ports_type& ports) {
              filler.Fill(*sample);
              OpenBatch* const batch = sample->batch;
              idle_samples_.Push(sample);
              if (batch->SlotDone()) {
                std::get<0>(ports).try_put(batch);
              }
              std::get<1>(ports).try_put({});
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
  for (Sample& sample : samples_) {
    idle_samples_.Push(&sample);
  }
  flow::make_edge(waiting_, limit_);
  flow::make_edge(limit_, read_);
  flow::make_edge(read_, fill_);
  flow::make_edge(flow::output_port<0>(fill_), in_order_);
  flow::make_edge(flow::output_port<1>(fill_), limit_.decrementer());
  flow::make_edge(in_order_, deliver_);
}

void Nodes::Put(OpenBatch& batch) {
  const int samples = batch.plan().samples;
  if (samples == 0) {
    in_order_.try_put(&batch);  // All of it is padding.
  }
  // The last slot's worker may deliver the batch before this loop ends, so
  // nothing of it is read in here.
  for (int slot = 0; slot < samples; ++slot) {
    waiting_.try_put({&batch, slot, StageCounter::Clock::now()});
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
    arena_.Execute([&] {
      nodes_.emplace(filler, options.samples_in_flight, std::move(deliver));
    });
  }
  ~Flow() override { nodes_->WaitUntilIdle(); }  // Then the threads end.
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
      : filler_(filler), deliver_(std::move(deliver)) {}

  void Put(OpenBatch& batch) override {
    sample_.batch = &batch;
    for (int slot = 0; slot < batch.plan().samples; ++slot) {
      sample_.slot = slot;
      sample_.since = StageCounter::Clock::now();
      filler_.Read(sample_);
      filler_.Fill(sample_);
      (void)batch.SlotDone();
    }
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
