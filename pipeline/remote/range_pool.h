#pragma once

#include <memory>

#include "pipeline/remote/opened_stream.h"
#include "pipeline/slots/range_filler.h"

namespace infeed {

// The ranges of a worker, of whatever streams: this bounds its memory. A range
// is in use until its reply is sent; then it waits for the next request of its
// stream, or makes room for a range of another stream. Ranges in use may
// outlive the pool. Thread-safe.
class RangePool {
 public:
  // most: ranges that exist at once; > 0.
  explicit RangePool(int most);

  // A range for the stream, which is kept until the range comes back: when its
  // last owner is gone. null: all ranges are in use. Throws std::bad_alloc.
  [[nodiscard]] std::shared_ptr<FilledRange> Take(
      const std::shared_ptr<OpenedStream>& stream);

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace infeed
