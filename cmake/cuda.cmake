# Additional requirements of a build with CUDA: nvcc, LibTorch of a PyTorch
# wheel (2.8 or later; found by torch.cmake) and the wheel's NCCL and cuDNN.
set(CMAKE_CUDA_ARCHITECTURES ${INFEED_CUDA_ARCHITECTURES})
enable_language(CUDA)
# CMake 3.25 lacks nvcc's flag for C++20.
foreach(kind IN ITEMS STANDARD EXTENSION)
  if(NOT DEFINED CMAKE_CUDA20_${kind}_COMPILE_OPTION)
    set(CMAKE_CUDA20_${kind}_COMPILE_OPTION "-std=c++20")
  endif()
endforeach()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)

if(NOT infeed_torch_dir)
  message(FATAL_ERROR
    "Preset cuda needs a PyTorch wheel with CUDA (2.8 or later). "
    "./dev build cuda installs one; or set CMAKE_PREFIX_PATH to what "
    "`python3 -c 'import torch; print(torch.utils.cmake_prefix_path)'` prints.")
endif()
# Torch's package file reads architectures from its own variable, else looks for
# a GPU, and adds them to the flags of every CUDA source.
set(TORCH_CUDA_ARCH_LIST 9.0)
set(infeed_saved_cuda_flags "${CMAKE_CUDA_FLAGS}")
unset(CMAKE_CUDA_ARCHITECTURES)
unset(CMAKE_CUDA_ARCHITECTURES CACHE)
find_package(Torch 2.8 REQUIRED)
set(CMAKE_CUDA_FLAGS "${infeed_saved_cuda_flags}")
set(CMAKE_CUDA_ARCHITECTURES ${INFEED_CUDA_ARCHITECTURES})
if(NOT TARGET torch_cuda)
  message(FATAL_ERROR "The LibTorch in ${infeed_torch_dir} has no CUDA.")
endif()

find_path(INFEED_NCCL_INCLUDE nccl.h REQUIRED
  HINTS ${infeed_wheels}/nvidia/nccl/include)
find_library(INFEED_NCCL NAMES nccl libnccl.so.2 REQUIRED
  HINTS ${infeed_wheels}/nvidia/nccl/lib)

find_path(INFEED_CUDNN_INCLUDE cudnn.h REQUIRED
  HINTS ${infeed_wheels}/nvidia/cudnn/include)
find_library(INFEED_CUDNN NAMES cudnn libcudnn.so.9 REQUIRED
  HINTS ${infeed_wheels}/nvidia/cudnn/lib)

# Linked by this project's CUDA sources; it also provides CUDA's headers.
add_library(infeed_cuda INTERFACE IMPORTED)
target_include_directories(infeed_cuda SYSTEM INTERFACE
  ${INFEED_NCCL_INCLUDE} ${INFEED_CUDNN_INCLUDE})
target_link_libraries(infeed_cuda INTERFACE
  torch CUDA::cudart ${INFEED_NCCL} ${INFEED_CUDNN})
