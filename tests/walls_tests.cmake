# The walls themselves: who includes whom, who may use which library, how long
# files and functions are, formatting, and that a consumer outside the tree can
# build against what is installed.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

foreach(wall includes doors sizes format)
  add_test(NAME walls.${wall}
    COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/walls.py
            ${wall} ${PROJECT_SOURCE_DIR})
  set_tests_properties(walls.${wall} PROPERTIES LABELS walls)
endforeach()
add_test(NAME walls.breaches_are_found
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/walls_test.py)
set_tests_properties(walls.breaches_are_found PROPERTIES LABELS walls)

# What bench/peers makes of its measurements; it measures nothing.
add_test(NAME peers_test
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/peers_test.py)
set_tests_properties(peers_test PROPERTIES LABELS core)
# Likewise bench/device.
add_test(NAME device_bench_test
  COMMAND Python3::Interpreter
          ${CMAKE_CURRENT_SOURCE_DIR}/device_bench_test.py)
set_tests_properties(device_bench_test PROPERTIES LABELS core)

add_test(NAME walls.find_package
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/find_package/run.sh
          ${PROJECT_BINARY_DIR} ${CMAKE_COMMAND} ${CMAKE_CXX_COMPILER})
set_tests_properties(walls.find_package PROPERTIES LABELS walls TIMEOUT 600)
