# Trainings of several ranks, started as users start them, beside one process.
# `./dev cluster` has more of them, and a table. What this machine lacks (Open
# MPI, network namespaces) is skipped with the reason.
foreach(test local_ranks_4 mpirun_2 by_hand_4 two_hosts cut_link)
  add_test(NAME cluster.${test}
    COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/cluster/run ${test}
            --programs ${PROJECT_BINARY_DIR}/bin
            --work ${CMAKE_CURRENT_BINARY_DIR}/cluster/${test})
  set_tests_properties(cluster.${test} PROPERTIES
    LABELS end_to_end SKIP_RETURN_CODE 77 TIMEOUT 300)
endforeach()
