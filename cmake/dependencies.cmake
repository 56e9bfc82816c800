# Every library comes from the system; packages.txt lists the packages.
# The installed package finds the first block again: infeedConfig.cmake.in.
find_package(Threads REQUIRED)
find_package(JPEG REQUIRED)
find_package(PNG REQUIRED)
find_package(ZLIB REQUIRED)
if(INFEED_TRAINER OR INFEED_FUZZ OR INFEED_CORE_TESTS)
  # From version 22 on protobuf needs Abseil, which its own package file links;
  # where it has none (Debian), CMake's module finds it. Its lite library would
  # suffice, but LibTorch brings the whole one: a process should not load both.
  find_package(Protobuf CONFIG QUIET)
  if(NOT Protobuf_FOUND)
    find_package(Protobuf REQUIRED)
  endif()
endif()
find_package(TBB REQUIRED)
if(INFEED_IMAGE_CODECS)
  find_package(OpenCV REQUIRED COMPONENTS core imgproc imgcodecs)
elseif(INFEED_BENCHMARKS)
  include(cmake/opencv_parts.cmake)
endif()
find_package(nlohmann_json REQUIRED)
find_package(CURL REQUIRED)
# Signatures of cloud requests; SHA-256 of streams.
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(pugixml REQUIRED)
find_package(yaml-cpp REQUIRED)
# The target's name since 0.8; the old name ends with 0.10.
set(infeed_yaml yaml-cpp)
if(TARGET yaml-cpp::yaml-cpp)
  set(infeed_yaml yaml-cpp::yaml-cpp)
endif()
include(cmake/plain_libraries.cmake)
find_package(hwy REQUIRED)
find_package(fmt REQUIRED)

# Only the plugin of input workers links it. Its package file requires programs
# that Debian packages separately, so that pkg-config is asked first.
if(INFEED_WORKERS)
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    pkg_check_modules(INFEED_GRPC QUIET IMPORTED_TARGET grpc++>=1.48)
  endif()
  if(INFEED_STATIC_GRPC)
    include(cmake/grpc_archives.cmake)
  elseif(TARGET PkgConfig::INFEED_GRPC)
    set(infeed_grpc PkgConfig::INFEED_GRPC)
  else()
    find_package(gRPC 1.48 CONFIG QUIET)
    set(infeed_grpc gRPC::grpc++)
  endif()
  if(NOT TARGET ${infeed_grpc})
    message(STATUS "No gRPC 1.48 or later: input workers are left out")
    set(INFEED_WORKERS OFF)
  endif()
endif()

if(INFEED_TOOLS)
  find_package(CLI11 REQUIRED)
endif()

if(INFEED_TRAINER)
  include(cmake/torch.cmake)
endif()

if(INFEED_PYTHON)
  find_package(Python 3.10 REQUIRED
    COMPONENTS Interpreter Development.Module
    OPTIONAL_COMPONENTS Development.SABIModule)
  execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
    OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY)
  find_package(nanobind CONFIG REQUIRED)
endif()
if(INFEED_TESTS)
  find_package(GTest REQUIRED)
endif()
if(INFEED_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()
# The prefix path with which all libraries were found; ./dev compares it.
set(INFEED_PREFIX_PATH "$ENV{CMAKE_PREFIX_PATH}" CACHE INTERNAL
  "The environment's CMAKE_PREFIX_PATH when the packages were found")
