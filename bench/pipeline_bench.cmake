add_executable(pipeline_bench pipeline_bench.cc)
target_include_directories(pipeline_bench PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(pipeline_bench PRIVATE
  infeed::pipeline benchmark::benchmark_main infeed_options)

add_executable(packed_bench packed_bench.cc in_turns.cc)
target_include_directories(packed_bench PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(packed_bench PRIVATE
  infeed::pipeline fmt::fmt infeed_options)
if(INFEED_TESTS)  # A short run, so that it cannot rot.
  add_test(NAME packed_bench_runs COMMAND packed_bench 128 1)
endif()
