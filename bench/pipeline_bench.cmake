add_executable(pipeline_bench pipeline_bench.cc)
target_include_directories(pipeline_bench PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(pipeline_bench PRIVATE
  infeed::pipeline benchmark::benchmark_main infeed_options)
