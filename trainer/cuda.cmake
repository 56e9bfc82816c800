# What only a build with CUDA has. Sources outside cuda_* see INFEED_CUDA.
target_sources(infeed_trainer PRIVATE
  cuda_evaluation.cc
  cuda_graphs.cc
  cuda_idle.cc
  cuda_loop.cc
  cuda_memory.cc
  cuda_optimizer.cc
  cuda_passes.cc
  cuda_slots.cc
  cuda_step_inputs.cc
  cuda_stream.cc
  )
target_compile_definitions(infeed_trainer PRIVATE INFEED_CUDA)
target_link_libraries(infeed_trainer PRIVATE infeed_cuda)
