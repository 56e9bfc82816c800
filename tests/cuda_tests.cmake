# Kernels, and the loop with them; each test skips where there is no GPU.
infeed_test(cuda_kernels_test
  SOURCES
    cuda_kernels_test.cc
    cuda_norm_test.cc
  LIBRARIES infeed::trainer infeed_cuda
  LABELS gpu)
infeed_test(cuda_loop_test
  SOURCES
    cuda_loop_test.cc
  LIBRARIES infeed::trainer infeed_cuda
  LABELS gpu)
