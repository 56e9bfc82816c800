# cmake -D TEST=PROGRAM -D LABELS=LABELS -D OUT=FILE -P list_suites.cmake
# Writes a ctest entry for each suite of a gtest program. A process for each of
# the 4,000 tests spent as long on starting as on testing.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${TEST} --gtest_list_tests
  OUTPUT_VARIABLE listing RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "${TEST} --gtest_list_tests: ${failed}")
endif()
# What takes long begins first. Threads of LibTorch's that wait must not spin on
# cores that other tests need: it makes a test several times slower.
set(cost 0)
if("end_to_end" IN_LIST LABELS)
  set(cost 100)
endif()
string(REGEX MATCHALL "(^|\n)[A-Za-z0-9_/]+\\." suites "${listing}")
set(entries "")
foreach(suite IN LISTS suites)
  string(REGEX REPLACE "[\n.]" "" suite "${suite}")
  string(APPEND entries
    "add_test(${suite} \"${TEST}\" \"--gtest_filter=${suite}.*\")\n"
    "set_tests_properties(${suite} PROPERTIES LABELS \"${LABELS}\" COST ${cost} "
    "TIMEOUT 1200 ENVIRONMENT OMP_WAIT_POLICY=PASSIVE)\n")
endforeach()
file(WRITE ${OUT} "${entries}")
