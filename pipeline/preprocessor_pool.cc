#include "pipeline/preprocessor_pool.h"

#include <cstddef>
#include <utility>

namespace infeed {

PreprocessOptions PreprocessOptionsOf(const InputOptions& options) {
  return {.recipe = options.recipe,
          .interpolation = options.interpolation,
          .training = options.training,
          .image_size = options.image_size,
          .scaled_decode = options.scaled_decode,
          .augment = options.augment,
          .limits = options.jpeg_limits,
          .warnings = options.lenient ? JpegWarnings::kTolerated
                                      : JpegWarnings::kErrors};
}

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
