#pragma once

#include <string>

#include "tools/convert/converter_options.h"
#include "tools/convert/plan.h"

namespace infeed {

// Identifies what planned shards are made from: the options that change their
// bytes, and the path, size, modification time (of an object in a store: its
// ETag) and class of each image in order. Shards with equal fingerprints have
// equal bytes, and a changed image changes the fingerprint. The policy for bad
// images is left out: without bad images it changes nothing.
//
// plan must outlive it. Const members may be called from several threads at
// once. Throws IoError for an image that is no longer there.
class ShardFingerprints {
 public:
  ShardFingerprints(const ConversionPlan& plan,
                    const ConverterOptions& options);

  // 24 hex digits.
  [[nodiscard]] std::string Of(const ShardTask& task) const;

 private:
  const ConversionPlan& plan_;
  std::string options_;
};

}  // namespace infeed
