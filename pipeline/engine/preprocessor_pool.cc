#include "pipeline/engine/preprocessor_pool.h"

#include <cstddef>
#include <utility>

namespace infeed {

PreprocessorPool::PreprocessorPool(const InputOptions& options)
    : free_(static_cast<std::size_t>(options.threads)) {
  for (int i = 0; i < options.threads; ++i) {
    free_.Push(std::make_unique<Preprocessor>(PreprocessOptionsOf(options)));
  }
}

PreprocessorPool::Loan::Loan(PreprocessorPool& pool)
    : pool_(pool), preprocessor_(std::move(pool.free_.Pop().value())) {}

PreprocessorPool::Loan::~Loan() { pool_.free_.Push(std::move(preprocessor_)); }

}  // namespace infeed
