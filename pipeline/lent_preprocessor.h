#pragma once

#include <memory>
#include <utility>

#include "base/bounded_queue.h"
#include "preprocess/recipe.h"

namespace infeed {

// A preprocessor on loan for one sample, from a queue of those that no one is
// using, which must outlive it. Requires: the queue stays open. One thread at a
// time.
class LentPreprocessor {
 public:
  using Queue = BoundedQueue<std::unique_ptr<Preprocessor>>;

  explicit LentPreprocessor(Queue& queue)
      : queue_(queue), preprocessor_(std::move(queue.Pop().value())) {}
  ~LentPreprocessor() { queue_.Push(std::move(preprocessor_)); }
  LentPreprocessor(const LentPreprocessor&) = delete;
  LentPreprocessor& operator=(const LentPreprocessor&) = delete;

  Preprocessor* operator->() { return preprocessor_.get(); }
  Preprocessor& operator*() { return *preprocessor_; }

 private:
  Queue& queue_;
  std::unique_ptr<Preprocessor> preprocessor_;
};

}  // namespace infeed
