add_library(test_jpeg STATIC support/test_jpeg.cc)
target_include_directories(test_jpeg PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(test_jpeg
  PUBLIC infeed::preprocess
  PRIVATE JPEG::JPEG infeed_options)

infeed_test(jpeg_test
  SOURCES jpeg_test.cc jpeg_window_test.cc
  LIBRARIES test_jpeg
  LABELS core)
infeed_test(preprocess_test
  SOURCES crop_test.cc opencv_image_test.cc preprocess_golden_test.cc
          recipe_test.cc resize_test.cc
  LIBRARIES test_jpeg opencv_core opencv_imgcodecs
  LABELS core)
add_dependencies(core_tests jpeg_test preprocess_test)
add_dependencies(tsan_tests jpeg_test preprocess_test)

# Fuzz targets: libFuzzer with INFEED_FUZZ, else a replay of the corpus, which
# is an ordinary test either way.
foreach(subject image_size jpeg)
  set(target ${subject}_fuzz)
  add_executable(${target} fuzz/${target}.cc)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE infeed::preprocess infeed_options)
  if(INFEED_FUZZ)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(${target} PRIVATE fuzz/replay_corpus.cc)
  endif()
  add_test(NAME ${target}.replays_its_corpus
    COMMAND ${target} -runs=0 ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus/${subject})
  set_tests_properties(${target}.replays_its_corpus PROPERTIES
    LABELS "core;fuzz" TIMEOUT 300)
  add_dependencies(core_tests ${target})
  add_dependencies(tsan_tests ${target})
  add_dependencies(fuzz_targets ${target})
endforeach()
