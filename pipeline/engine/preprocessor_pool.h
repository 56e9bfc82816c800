#pragma once

#include <memory>

#include "base/bounded_queue.h"
#include "pipeline/order/options.h"
#include "preprocess/recipe/recipe.h"

namespace infeed {

// A preprocessor for each worker, lent for a sample at a time. Owns those that
// are not on loan. Thread-safe, with at most options.threads loans at once.
class PreprocessorPool {
 public:
  // Requires: options are checked.
  explicit PreprocessorPool(const InputOptions& options);

  // A preprocessor until it goes out of scope.
  class Loan {
   public:
    explicit Loan(PreprocessorPool& pool);
    ~Loan();
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;

    Preprocessor* operator->() { return preprocessor_.get(); }
    Preprocessor& operator*() { return *preprocessor_; }

   private:
    PreprocessorPool& pool_;
    std::unique_ptr<Preprocessor> preprocessor_;
  };

 private:
  BoundedQueue<std::unique_ptr<Preprocessor>> free_;
};

}  // namespace infeed
