# LibTorch: the system's package, or a PyTorch wheel, which has a configuration
# below the CMAKE_PREFIX_PATH that torch.utils.cmake_prefix_path prints, or that
# names its folder torch. Conda's package is laid out like a wheel.
#
# Only the wheel that is named: the system may have another LibTorch, and
# Torch's and Caffe2's package files could come from different ones.
set(infeed_torch_dir "")
string(REPLACE ":" ";" infeed_prefixes "$ENV{CMAKE_PREFIX_PATH}")
foreach(prefix IN LISTS CMAKE_PREFIX_PATH infeed_prefixes)
  foreach(dir IN ITEMS ${prefix} ${prefix}/share/cmake)
    if(NOT infeed_torch_dir AND EXISTS ${dir}/Torch/TorchConfig.cmake)
      file(REAL_PATH ${dir} infeed_torch_dir)
    endif()
  endforeach()
endforeach()

# CMake's cache keeps paths of the first LibTorch, which must not be mixed with
# another's.
set(infeed_libtorch "the system")
if(infeed_torch_dir)
  set(infeed_libtorch ${infeed_torch_dir})
endif()
if(DEFINED CACHE{INFEED_LIBTORCH} AND
   NOT infeed_libtorch STREQUAL "$CACHE{INFEED_LIBTORCH}")
  message(FATAL_ERROR
    "This build folder uses LibTorch of $CACHE{INFEED_LIBTORCH}; "
    "CMAKE_PREFIX_PATH now selects that of ${infeed_libtorch}. "
    "Restore CMAKE_PREFIX_PATH, or configure with --fresh.")
endif()

# Torch's configuration sets directory-wide flags, which are kept in a variable.
set(infeed_saved_flags "${CMAKE_CXX_FLAGS}")
set(infeed_fmt_beside_torch fmt::fmt)
if(infeed_torch_dir)
  set(Torch_DIR ${infeed_torch_dir}/Torch)
  set(Caffe2_DIR ${infeed_torch_dir}/Caffe2)
  get_filename_component(infeed_torch_root ${infeed_torch_dir}/../.. ABSOLUTE)
  set(TORCH_LIBRARY ${infeed_torch_root}/lib/libtorch.so)
  # NVIDIA's libraries are separate wheels beside torch.
  get_filename_component(infeed_wheels ${infeed_torch_root}/.. ABSOLUTE)
  file(GLOB infeed_nvidia_libs ${infeed_wheels}/nvidia/*/lib)
  # The wheel has headers of fmt, of another version than the system's library.
  set(infeed_fmt_beside_torch fmt::fmt-header-only)
endif()
if(INFEED_CUDA)
  include(cmake/cuda.cmake)
else()
  find_package(Torch REQUIRED)
endif()
set(CMAKE_CXX_FLAGS "${infeed_saved_flags}")

# Ranks on CPUs communicate by Gloo. A wheel contains Gloo without its headers;
# those of another version do not fit.
set(infeed_gloo OFF)
if(NOT INFEED_CUDA)
  if(infeed_torch_dir)
    find_path(INFEED_GLOO_INCLUDE gloo/algorithm.h
      PATHS ${infeed_torch_root}/include NO_DEFAULT_PATH)
  else()
    find_path(INFEED_GLOO_INCLUDE gloo/algorithm.h)
  endif()
  if(INFEED_GLOO_INCLUDE)
    set(infeed_gloo ON)
  else()
    message(STATUS
      "No headers of LibTorch's Gloo: train_resnet is a single process")
  endif()
endif()

if(infeed_torch_dir)
  # Folders of an MKL that may not exist would be searched at each start.
  if(TARGET caffe2::mkl)
    set_property(TARGET caffe2::mkl PROPERTY INTERFACE_LINK_DIRECTORIES "")
  endif()
  # A program has one OpenMP runtime: the wheel's, if it brings one.
  file(GLOB infeed_gomp ${infeed_torch_root}/lib/libgomp*.so*)
  if(infeed_gomp)
    list(GET infeed_gomp 0 OpenMP_gomp_LIBRARY)
  endif()
  # A wheel's libraries export some of libstdc++'s functions, std::filesystem's
  # among them, which crash when called. The first library that exports a name
  # is the one that is called.
  set_property(TARGET torch APPEND PROPERTY INTERFACE_LINK_OPTIONS
    "LINKER:--push-state,--no-as-needed,-lstdc++,--pop-state")
  # LibTorch's own libraries are found at run time; if the system has older
  # ones, the linker must not resolve LibTorch's symbols with them.
  set_property(TARGET torch APPEND PROPERTY INTERFACE_LINK_OPTIONS
    "LINKER:--allow-shlib-undefined")
  # Programs need no environment variables to start, and find the wheels'
  # libraries before the system's, which may be older.
  list(PREPEND CMAKE_INSTALL_RPATH
    ${infeed_torch_root}/lib ${infeed_nvidia_libs})
  set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
  # CMake pads shorter run-time paths with empty ones, and an empty path is the
  # current folder.
  set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
endif()
set(INFEED_LIBTORCH "${infeed_libtorch}" CACHE INTERNAL
  "Where LibTorch's package file was found")
