#pragma once

#include "trainer/formats/host_tensor.h"

namespace infeed {

// Removes from tensors' names what wrappers of a model add: `_orig_mod.` of
// torch.compile, `_fsdp_wrapped_module.` and `_checkpoint_wrapped_module.`
// anywhere; and, in any nesting, `module.` of DataParallel and AveragedModel,
// and `model.` and `state_dict.` of trainers, where every tensor of a layer
// begins with it. A name without a dot is no layer's, such as n_averaged.
[[nodiscard]] TensorMap WithoutWrappers(TensorMap tensors);

}  // namespace infeed
