if(INFEED_TESTS)  # Inputs come from the tests' builders.
  add_executable(records_bench records_bench.cc)
  target_include_directories(records_bench PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(records_bench PRIVATE
    infeed::records benchmark::benchmark_main infeed_options)
  # A short run, so that it cannot rot.
  add_test(NAME records_bench_runs
    COMMAND records_bench --benchmark_min_time=0.001)
endif()
