#include "tools/convert/graph.h"

#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <tbb/flow_graph.h>

#include "base/bounded_queue.h"
#include "base/error.h"
#include "pipeline/engine/closed_arena.h"

namespace infeed {
namespace {

namespace flow = tbb::flow;

// An item with its place in the order, and its error if it failed.
struct Parcel {
  std::size_t number = 0;
  ConversionItem item;
  std::exception_ptr failure;
};

// The first error in the order of the items. Thread-safe.
class FirstFailure {
 public:
  void Add(std::size_t number, std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (!error_ || number < number_) {
      number_ = number;
      error_ = std::move(error);
    }
    stopped_.store(true, std::memory_order_relaxed);
  }
  [[nodiscard]] bool stopped() const {
    return stopped_.load(std::memory_order_relaxed);
  }
  // Requires: no other thread adds errors any more.
  void Rethrow() const {
    if (error_) {
      std::rethrow_exception(error_);
    }
  }

 private:
  std::mutex mutex_;
  std::size_t number_ = 0;
  std::exception_ptr error_;
  std::atomic<bool> stopped_{false};
};

// The nodes and the parcels that travel between them. The graph belongs to the
// arena in which it is made. No body throws: oneTBB would then drop running
// items, in any order.
class Nodes {
 public:
  Nodes(ConversionSteps& steps, const ConversionGraphOptions& options);

  // Returns when all items are done. Throws what a step threw.
  void Run() {
    next_.activate();
    graph_.wait_for_all();
    failure_.Rethrow();
  }

 private:
  // More than the limit, so that a parcel is always ready before the limiter.
  static std::size_t Parcels(const ConversionGraphOptions& options) {
    return static_cast<std::size_t>(options.images_in_flight) + 2;
  }

  Parcel* Next(tbb::flow_control& control);
  Parcel* Encode(Parcel* parcel);
  Parcel* Append(Parcel* parcel);
  flow::continue_msg Finish(Parcel* parcel);

  ConversionSteps& steps_;
  std::size_t count_ = 0;
  FirstFailure failure_;
  std::vector<Parcel> parcels_;
  BoundedQueue<Parcel*> idle_;  // Never empty when popped: see limit_.
  flow::graph graph_;
  flow::input_node<Parcel*> next_;
  flow::limiter_node<Parcel*> limit_;
  flow::function_node<Parcel*, Parcel*> encode_;
  flow::sequencer_node<Parcel*> in_order_;
  flow::function_node<Parcel*, Parcel*> append_;
  flow::function_node<Parcel*, flow::continue_msg> finish_;
};

Nodes::Nodes(ConversionSteps& steps, const ConversionGraphOptions& options)
    : steps_(steps),
      parcels_(Parcels(options)),
      idle_(parcels_.size()),
      next_(graph_,
            [this](tbb::flow_control& control) { return Next(control); }),
      limit_(graph_, static_cast<std::size_t>(options.images_in_flight)),
      encode_(graph_, static_cast<std::size_t>(options.threads),
              [this](Parcel* parcel) { return Encode(parcel); }),
      in_order_(graph_, [](const Parcel* parcel) { return parcel->number; }),
      append_(graph_, flow::serial,
              [this](Parcel* parcel) { return Append(parcel); }),
      finish_(graph_, flow::unlimited,
              [this](Parcel* parcel) { return Finish(parcel); }) {
  for (Parcel& parcel : parcels_) {
    idle_.Push(&parcel);
  }
  flow::make_edge(next_, limit_);
  flow::make_edge(limit_, encode_);
  flow::make_edge(encode_, in_order_);
  flow::make_edge(in_order_, append_);
  flow::make_edge(append_, finish_);
  flow::make_edge(finish_, limit_.decrementer());
}

Parcel* Nodes::Next(tbb::flow_control& control) {
  Parcel* const parcel = idle_.Pop().value();
  parcel->number = count_++;
  parcel->failure = nullptr;
  try {
    if (!failure_.stopped() && steps_.Next(parcel->item)) {
      return parcel;
    }
  } catch (...) {
    failure_.Add(parcel->number, std::current_exception());
  }
  idle_.Push(parcel);
  control.stop();
  return nullptr;
}

// An error keeps its place in the order, so that the first in order is
// reported.
Parcel* Nodes::Encode(Parcel* parcel) {
  try {
    if (!failure_.stopped() && parcel->item.image != nullptr) {
      steps_.Encode(parcel->item);
    }
  } catch (...) {
    parcel->failure = std::current_exception();
  }
  return parcel;
}

Parcel* Nodes::Append(Parcel* parcel) {
  try {
    if (parcel->failure) {
      std::rethrow_exception(parcel->failure);
    }
    if (!failure_.stopped() && parcel->item.image != nullptr) {
      steps_.Append(parcel->item);
    }
  } catch (...) {
    failure_.Add(parcel->number, std::current_exception());
  }
  return parcel;
}

flow::continue_msg Nodes::Finish(Parcel* parcel) {
  try {
    if (!failure_.stopped() && parcel->item.image == nullptr) {
      steps_.Finish(parcel->item.shard);
    }
  } catch (...) {
    failure_.Add(parcel->number, std::current_exception());
  }
  parcel->item.record = {};  // Frees the memory for other items.
  parcel->item.fetched = nullptr;
  idle_.Push(parcel);
  return {};
}

}  // namespace

void RunConversionGraph(ConversionSteps& steps,
                        const ConversionGraphOptions& options) {
  Check(options.threads > 0 && options.images_in_flight > 0,
        "a graph has threads and items");
  ClosedArena arena(options.threads);
  std::optional<Nodes> nodes;
  arena.Execute([&] { nodes.emplace(steps, options); });
  nodes->Run();
}

}  // namespace infeed
