# Inputs and strangers that nobody should meet, a few of each kind, always the
# same ones. `./dev hostile` has as many as there is time for.
add_test(NAME hostile.self_test
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/hostile/self_test.py)
set_tests_properties(hostile.self_test PROPERTIES LABELS core TIMEOUT 300)
foreach(part shards images side_files checkpoints weights signals disks store
        ports)
  add_test(NAME hostile.${part}
    COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/hostile/run ${part}
            --short --programs ${PROJECT_BINARY_DIR}/bin
            --faults $<TARGET_FILE:file_faults>
            --out ${CMAKE_CURRENT_BINARY_DIR}/hostile/${part})
  set_tests_properties(hostile.${part} PROPERTIES
    LABELS end_to_end TIMEOUT 900)
endforeach()
