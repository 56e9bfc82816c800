# Toolchain of ./dev test foreign i386. The kernel runs the programs by
# themselves, with the libraries of the root.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR i686)
set(CMAKE_CXX_COMPILER i686-linux-gnu-g++)
set(root ${CMAKE_CURRENT_LIST_DIR}/../build/i386/root)
string(CONCAT CMAKE_EXE_LINKER_FLAGS_INIT
  "-Wl,--dynamic-linker=${root}/lib/ld-linux.so.2,--disable-new-dtags"
  ",-rpath,${root}/lib/i386-linux-gnu:${root}/usr/lib/i386-linux-gnu")
set(multiarch i386-linux-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/foreign.cmake)
