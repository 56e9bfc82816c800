# What only a build with CUDA has. Sources outside cuda_* see INFEED_CUDA.
target_sources(infeed_trainer PRIVATE
  cuda_cards.cc
  cuda_cards.h
  cuda_evaluation.cc
  cuda_graphs.cc
  cuda_group.cc
  cuda_idle.cc
  cuda_kernels.h
  cuda_kernels_norm.h
  cuda_kernels_norm_backward.cu
  cuda_kernels_norm_forward.cu
  cuda_kernels_optimizer.cu
  cuda_kernels_resident.cu
  cuda_kernels_resident.h
  cuda_kernels_resize.cu
  cuda_kernels_resize.h
  cuda_kernels_step.cu
  cuda_kernels_unpack.cu
  cuda_loop.cc
  cuda_memory.cc
  cuda_norm.cc
  cuda_norm.h
  cuda_norm_tiles.h
  cuda_optimizer.cc
  cuda_passes.cc
  cuda_resident_loop.cc
  cuda_slots.cc
  cuda_step.cc
  cuda_step_inputs.cc
  cuda_stream.cc
  cuda_vectors.h
  cuda_while_graph.cc
  gloo_group_none.cc
  )
# The kernels' arithmetic is constexpr functions, which the CPU compiles too,
# and has the CPU's bits: nothing is contracted to a fused multiply-add.
set_source_files_properties(
  cuda_kernels_norm_backward.cu
  cuda_kernels_norm_forward.cu
  cuda_kernels_optimizer.cu
  cuda_kernels_resident.cu
  cuda_kernels_resize.cu
  cuda_kernels_step.cu
  cuda_kernels_unpack.cu
  PROPERTIES COMPILE_OPTIONS "--expt-relaxed-constexpr;-fmad=false")
target_compile_definitions(infeed_trainer PRIVATE INFEED_CUDA)
target_link_libraries(infeed_trainer PRIVATE infeed_cuda)
