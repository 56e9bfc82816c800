# Inputs come from the tests' builders.
if(TARGET test_jpeg)
  add_executable(preprocess_bench preprocess_bench.cc)
  target_link_libraries(preprocess_bench PRIVATE
    test_jpeg benchmark::benchmark_main infeed_options)
  # A short run, so that it cannot rot.
  add_test(NAME preprocess_bench_runs
    COMMAND preprocess_bench --benchmark_min_time=0.001)
endif()
