# infeed_grpc_archives links gRPC and what it needs from archives, which must be
# position-independent; but not OpenSSL, zlib and the compiler's own libraries.
# pkg-config alone knows the archives; it lists them so that each stands before
# those that it needs.
if(NOT INFEED_GRPC_FOUND)
  message(FATAL_ERROR "INFEED_STATIC_GRPC needs pkg-config's file of gRPC 1.48 "
    "or later (grpc++.pc)")
endif()
set(infeed_grpc infeed_grpc_archives)
add_library(infeed_grpc_archives INTERFACE)
target_include_directories(infeed_grpc_archives SYSTEM
  INTERFACE ${INFEED_GRPC_STATIC_INCLUDE_DIRS})
target_link_directories(infeed_grpc_archives
  INTERFACE ${INFEED_GRPC_STATIC_LIBRARY_DIRS})
foreach(name IN LISTS INFEED_GRPC_STATIC_LIBRARIES)
  unset(library)  # find_library() would keep a value.
  if(name MATCHES "^(ssl|crypto|z|atomic|dl|m|pthread|rt)$")
    set(library ${name})
  else()
    find_library(library lib${name}.a NO_CACHE REQUIRED)
  endif()
  target_link_libraries(infeed_grpc_archives INTERFACE ${library})
endforeach()
# Archives have much that the plugin never calls.
target_link_options(infeed_grpc_archives
  INTERFACE -Wl,--gc-sections -Wl,-z,defs)
