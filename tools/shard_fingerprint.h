#pragma once

#include <cstdint>
#include <string>

#include "tools/conversion_plan.h"
#include "tools/converter_options.h"

namespace infeed {

// Identifies what planned shards are made from: the options that change their
// bytes, and the path, size, modification time and class of each image in
// order. Two shards with one fingerprint have the same bytes, and a changed
// image gives another one. What becomes of bad images is left out: it changes
// nothing where there are none.
//
// plan must outlive it. One thread at a time. Throws IoError for an image that
// is no longer there.
class ShardFingerprints {
 public:
  ShardFingerprints(const ConversionPlan& plan,
                    const ConverterOptions& options);

  // 24 hex digits.
  [[nodiscard]] std::string Of(const ShardTask& task);

 private:
  // In nanoseconds. Images of one raw file come after one another.
  [[nodiscard]] std::int64_t ModificationTime(const std::string& path);

  const ConversionPlan& plan_;
  std::string options_;
  std::string last_path_;
  std::int64_t last_time_ = 0;
};

}  // namespace infeed
