# cmake -D TEST=PROGRAM [-D EMULATOR=COMMAND] [-D SKIPPED=TEST:...]
#   -D LABELS=LABELS -D OUT=FILE -P list_suites.cmake
# Writes a ctest entry for each suite of a gtest program. A process for each of
# the 4,000 tests spent as long on starting as on testing.
cmake_minimum_required(VERSION 3.25)
set(command ${EMULATOR} ${TEST})
execute_process(COMMAND ${command} --gtest_list_tests
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
list(TRANSFORM suites REPLACE "[\n.]" "")
# LibTorch takes half a second to load: some suites share a process.
set(together 1)
if("trainer" IN_LIST LABELS AND NOT cost)
  set(together 5)
  set(cost 50)
endif()
list(JOIN command "\" \"" command)
set(entries "")
while(suites)
  list(SUBLIST suites 0 ${together} some)
  list(REMOVE_ITEM suites ${some})
  list(JOIN some "," name)
  list(JOIN some ".*:" filter)
  string(APPEND entries
    "add_test(${name} \"${command}\" \"--gtest_filter=${filter}.*-${SKIPPED}\")\n"
    "set_tests_properties(${name} PROPERTIES LABELS \"${LABELS}\" COST ${cost} "
    "TIMEOUT 3600 ENVIRONMENT OMP_WAIT_POLICY=PASSIVE)\n")
endwhile()
file(WRITE ${OUT} "${entries}")
