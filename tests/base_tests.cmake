infeed_test(base_test
  SOURCES atomic_file_test.cc bounded_queue_test.cc error_test.cc
          random_test.cc
  LIBRARIES infeed::base
  LABELS core)
add_dependencies(core_tests base_test)
add_dependencies(tsan_tests base_test)
