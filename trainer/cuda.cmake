# What only a build with CUDA has. Sources outside cuda_* see INFEED_CUDA.
target_sources(infeed_trainer PRIVATE
  cuda_group.cc
  gloo_group_none.cc
  )
target_compile_definitions(infeed_trainer PRIVATE INFEED_CUDA)
target_link_libraries(infeed_trainer PRIVATE infeed_cuda)
