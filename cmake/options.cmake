# All switches: there are few, so that equal versions behave equally.
option(INFEED_TOOLS "Build the programs; without, the libraries alone" ON)
option(INFEED_TRAINER "Build train_resnet, which needs LibTorch" ${INFEED_TOOLS})
option(INFEED_TESTS "Build the tests, which need all parts"
  ${PROJECT_IS_TOP_LEVEL})
option(INFEED_CORE_TESTS
  "Build the tests of base, records and preprocess alone, as for another CPU" OFF)
option(INFEED_BENCHMARKS "Build the benchmarks, which need the programs"
  ${PROJECT_IS_TOP_LEVEL})
option(INFEED_PYTHON "Build the Python package's module, with nanobind" OFF)
option(INFEED_FUZZ "Build the fuzz targets with libFuzzer (clang)" OFF)
option(INFEED_CUDA "Train on GPUs, with LibTorch of a PyTorch wheel" OFF)
option(INFEED_IMAGE_CODECS
  "Read BMP, TIFF, JPEG 2000 and PNM too, through OpenCV's imgcodecs" ON)
option(INFEED_WORKERS
  "Build input workers' network part, with gRPC (OFF where it is not found)" ON)
option(INFEED_STATIC_GRPC
  "Link gRPC's archives into input workers' network part" OFF)
set(INFEED_CUDA_ARCHITECTURES "80-real;90-real;100" CACHE STRING
  "Whose device code a build with CUDA has, as CMAKE_CUDA_ARCHITECTURES takes it")
set(INFEED_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize= takes them")


# Turning a part off turns off the parts that depend on it.
if(NOT INFEED_TOOLS)
  set(INFEED_TRAINER OFF)
  set(INFEED_BENCHMARKS OFF)
endif()
if(NOT INFEED_TRAINER AND NOT INFEED_CORE_TESTS)
  set(INFEED_TESTS OFF)
endif()

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
  set(CMAKE_CUDA_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
endif()

# Linked by all targets of this project, but not part of the installed package.
add_library(infeed_options INTERFACE)
target_compile_features(infeed_options INTERFACE cxx_std_20)
target_compile_options(infeed_options INTERFACE
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Wshadow>
  $<$<COMPILE_LANGUAGE:CXX>:
    -Wall -Wextra $<$<NOT:$<BOOL:${CMAKE_UNITY_BUILD}>>:-Wshadow>
    -Wnon-virtual-dtor -Woverloaded-virtual>
  # Products and sums are rounded apart, so that CPUs with fused multiply-adds,
  # as all Arm ones, have the same bits as those without.
  $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>
  # False warnings of GCC 12 for std::optional's value and std::string's +.
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized -Wno-restrict>
  # In a unity build sources are included, so that GCC takes their anonymous
  # namespaces for a header's. There GCC 12 also gives false warnings about
  # bounds of std::string.
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<BOOL:${CMAKE_UNITY_BUILD}>>:
    -Wno-subobject-linkage -Wno-array-bounds>
  $<$<CONFIG:Debug>:-D_GLIBCXX_ASSERTIONS>)
if(CMAKE_SIZEOF_VOID_P EQUAL 4)
  target_compile_definitions(infeed_options INTERFACE
    _FILE_OFFSET_BITS=64 _TIME_BITS=64)  # shards are longer than 2 GiB
  # The x87 rounds to more bits than a double has: results would differ.
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "i.86")
    target_compile_options(infeed_options INTERFACE -msse2 -mfpmath=sse)
  endif()
endif()
# Programs load only libraries that they use: OpenCV alone has some hundred
# dependencies.
target_link_options(infeed_options INTERFACE -Wl,--as-needed)
if(INFEED_SANITIZE)
  target_compile_options(infeed_options INTERFACE
    -fsanitize=${INFEED_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all
    # Takes an object that a plugin made for one of a wrong type, as each has
    # type information of its own.
    -fno-sanitize=vptr)
  target_link_options(infeed_options INTERFACE -fsanitize=${INFEED_SANITIZE})
endif()
if(INFEED_FUZZ AND NOT DEFINED ENV{LIB_FUZZING_ENGINE})
  # libFuzzer's instrumentation of the branches that an input takes; OSS-Fuzz,
  # which sets the variable, gives its own with the compiler's flags.
  target_compile_options(infeed_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
