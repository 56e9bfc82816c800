#include "tools/convert/graph.h"

#include <exception>

#include <tbb/parallel_pipeline.h>

#include "base/error.h"
#include "pipeline/engine/closed_arena.h"

namespace infeed {
namespace {

// An item, and the error of the step that failed for it.
struct Parcel {
  ConversionItem item;
  std::exception_ptr failure;
};

// Calls a step and returns its exception. A filter must not throw: oneTBB leaks
// its input.
template <typename Step>
std::exception_ptr Try(const Step& step) {
  try {
    step();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

// Runs the steps in the calling thread's arena.
void RunPipeline(ConversionSteps& steps, std::size_t images_in_flight) {
  using Mode = tbb::filter_mode;
  tbb::task_group_context context;
  std::exception_ptr first;
  const auto stop = [&](const std::exception_ptr& failure) {
    if (failure && context.cancel_group_execution()) {  // true once
      first = failure;
    }
  };
  bool is_over = false;
  const auto next = tbb::make_filter<void, Parcel>(
      Mode::serial_in_order, [&](tbb::flow_control& control) {
        Parcel parcel;
        parcel.failure =
            Try([&] { is_over = is_over || !steps.Next(parcel.item); });
        if (is_over) {
          control.stop();
        }
        is_over = parcel.failure != nullptr;  // Nothing follows an error.
        return parcel;
      });
  const auto encode =
      tbb::make_filter<Parcel, Parcel>(Mode::parallel, [&](Parcel parcel) {
        if (!parcel.failure && parcel.item.image != nullptr) {
          parcel.failure = Try([&] { steps.Encode(parcel.item); });
        }
        return parcel;
      });
  // Errors of the earlier steps wait here, so that they come in order.
  const auto append = tbb::make_filter<Parcel, Parcel>(
      Mode::serial_in_order, [&](Parcel parcel) {
        if (!parcel.failure && parcel.item.image != nullptr) {
          parcel.failure = Try([&] { steps.Append(parcel.item); });
        }
        stop(parcel.failure);
        return parcel;
      });
  const auto finish =
      tbb::make_filter<Parcel, void>(Mode::parallel, [&](const Parcel& parcel) {
        if (!parcel.failure && parcel.item.image == nullptr) {
          stop(Try([&] { steps.Finish(parcel.item.shard); }));
        }
      });
  tbb::parallel_pipeline(images_in_flight, next & encode & append & finish,
                         context);
  if (first) {
    std::rethrow_exception(first);
  }
}

}  // namespace

void RunConversionGraph(ConversionSteps& steps,
                        const ConversionGraphOptions& options) {
  Check(options.threads > 0 && options.images_in_flight > 0,
        "a graph has threads and items");
  ClosedArena(options.threads).Execute([&] {
    RunPipeline(steps, static_cast<std::size_t>(options.images_in_flight));
  });
}

}  // namespace infeed
