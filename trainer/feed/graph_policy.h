#pragma once

#include <functional>
#include <string>
#include <utility>

#include "trainer/model/options.h"

namespace infeed {

// Whether the loops of a device replay passes as graphs: until the device
// rejects a graph, after which every pass runs kernel by kernel. One thread at
// a time.
class GraphPolicy {
 public:
  // say gets the reason for the rejection; it may be empty.
  GraphPolicy(GraphReplay replay, std::function<void(const std::string&)> say)
      : replay_(replay), say_(std::move(say)) {}

  [[nodiscard]] bool enabled() const { return replay_ != GraphReplay::kFalse; }

  // Calls capture(), and returns whether it made a graph. If it throws, graphs
  // are no longer enabled, and the reason is printed; with
  // GraphReplay::kRequired, throws IoError instead. Requires: enabled().
  [[nodiscard]] bool Try(const std::function<void()>& capture);

 private:
  GraphReplay replay_;
  std::function<void(const std::string&)> say_;
};

}  // namespace infeed
