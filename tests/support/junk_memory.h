#pragma once

#include <c10/util/Flags.h>

C10_DECLARE_bool(caffe2_cpu_allocator_do_junk_fill);

namespace infeed {

// While it lives, LibTorch's fresh memory on the CPU, oneDNN's scratch memory
// too, is full of NaN patterns of float32 and bfloat16: reading it before it is
// written shows in the result.
class JunkMemory {
 public:
  JunkMemory() { FLAGS_caffe2_cpu_allocator_do_junk_fill = true; }
  ~JunkMemory() { FLAGS_caffe2_cpu_allocator_do_junk_fill = false; }
  JunkMemory(const JunkMemory&) = delete;
  JunkMemory& operator=(const JunkMemory&) = delete;
};

}  // namespace infeed
