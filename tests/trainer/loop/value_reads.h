#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/enum_tag.h>

namespace infeed {

// Whether the host must read a tensor's values for this operation's result:
// item(), equal(), nonzero(), masked_select() and the like. A GPU's graph
// cannot capture such an operation.
inline bool ReadsValues(const c10::OperatorHandle& operation) {
  return operation.hasTag(at::Tag::data_dependent_output) ||
         operation.hasTag(at::Tag::dynamic_output_shape);
}

}  // namespace infeed
