#pragma once

#include <cstdint>

#include "tests/support/tensors.h"
#include "trainer/checkpoint/checkpoint.h"

namespace infeed {

// A small checkpoint, another for each step.
inline Checkpoint MadeCheckpoint(std::int64_t step) {
  Checkpoint checkpoint;
  checkpoint.step = step;
  checkpoint.stream = {.epoch = 3, .position = step * 64};
  checkpoint.identity = {{"data_identity", "\"0123abcd\""},
                         {"seed", "18446744073709551615"},
                         {"recipe", "\"tpu\""},
                         {"scaled_decode", "false"}};
  checkpoint.validation = {{"eval_split", "\"validation\""},
                           {"eval_crops", "1"}};
  checkpoint.state.model = {
      {"fc.bias", FloatTensor({1, 2, static_cast<float>(step)})},
      {"bn1.num_batches_tracked", IntTensor(step)}};
  checkpoint.state.optimizer = {{"fc.bias", FloatTensor({4, 5, 6})}};
  return checkpoint;
}

}  // namespace infeed
