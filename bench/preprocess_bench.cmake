if(INFEED_TESTS)  # Inputs come from the tests' builders.
  add_executable(preprocess_bench preprocess_bench.cc)
  target_link_libraries(preprocess_bench PRIVATE
    test_jpeg benchmark::benchmark_main infeed_options)
  add_executable(augment_bench augment_bench.cc)
  target_link_libraries(augment_bench PRIVATE
    test_jpeg benchmark::benchmark infeed_options)
  add_executable(resize_bench resize_bench.cc)
  target_link_libraries(resize_bench PRIVATE
    infeed::pipeline test_jpeg benchmark::benchmark opencv_core opencv_imgproc
    infeed_options)
  add_executable(jpeg_backhalf_bench jpeg_backhalf_bench.cc)
  target_link_libraries(jpeg_backhalf_bench PRIVATE
    jpeg_back_half benchmark::benchmark infeed_options)
  add_executable(jpeg_entropy_bench jpeg_entropy_bench.cc)
  target_link_libraries(jpeg_entropy_bench PRIVATE
    test_entropy benchmark::benchmark_main infeed_options)
  # A short run, so that it cannot rot.
  foreach(name preprocess_bench augment_bench resize_bench jpeg_backhalf_bench
          jpeg_entropy_bench)
    add_test(NAME ${name}_runs
      COMMAND ${name} --benchmark_min_time=0.001)
  endforeach()
endif()
