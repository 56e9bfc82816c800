# The walls themselves: who includes whom, who may use which library, how long
# files and functions are, that no two types share a name, formatting, where
# pages' links lead, and that a consumer outside the tree can build against what
# is installed.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

foreach(wall includes doors sizes types format links)
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
# Likewise bench/parity.
add_test(NAME parity_test
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/parity_test.py)
set_tests_properties(parity_test PROPERTIES LABELS core)
# Likewise bench/device.
add_test(NAME device_bench_test
  COMMAND Python3::Interpreter
          ${CMAKE_CURRENT_SOURCE_DIR}/device_bench_test.py)
set_tests_properties(device_bench_test PROPERTIES LABELS core)

# What users get: installed once for all tests that build against it.
set(installed ${CMAKE_CURRENT_BINARY_DIR}/installed)
add_test(NAME walls.install
  COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR}
          --prefix ${installed})
set_tests_properties(walls.install PROPERTIES
  LABELS walls FIXTURES_SETUP installed)
add_test(NAME walls.uninstall
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${installed})
set_tests_properties(walls.uninstall PROPERTIES
  LABELS walls FIXTURES_CLEANUP installed)
foreach(consumer find_package examples)
  add_test(NAME walls.${consumer}
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/${consumer}/run.sh
            ${installed} ${CMAKE_COMMAND} ${CMAKE_CXX_COMPILER})
  set_tests_properties(walls.${consumer} PROPERTIES
    LABELS walls TIMEOUT 600 FIXTURES_REQUIRED installed)
endforeach()
