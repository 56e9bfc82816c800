add_library(test_jpeg STATIC support/test_jpeg.cc)
target_include_directories(test_jpeg PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(test_jpeg
  PUBLIC infeed::preprocess
  PRIVATE JPEG::JPEG infeed_options)

# The decoder's vector code without the decoder, for every target.
add_library(jpeg_back_half STATIC
  support/coefficient_jpeg.cc support/jpeg_back_half.cc)
target_include_directories(jpeg_back_half PUBLIC ${PROJECT_SOURCE_DIR})
target_compile_definitions(jpeg_back_half PRIVATE
  $<TARGET_PROPERTY:infeed_preprocess,COMPILE_DEFINITIONS>)
target_link_libraries(jpeg_back_half
  PUBLIC infeed::preprocess
  PRIVATE JPEG::JPEG hwy::hwy infeed_options)

infeed_test(jpeg_backhalf_test
  SOURCES jpeg_color_test.cc jpeg_idct_test.cc jpeg_window_plan_test.cc
  LIBRARIES jpeg_back_half
  LABELS core)
infeed_test(jpeg_test
  SOURCES
    jpeg_details_test.cc
    jpeg_plain_test.cc
    jpeg_scan_test.cc
    jpeg_test.cc
    jpeg_window_test.cc
  LIBRARIES test_jpeg
  LABELS core)
# The entropy decoder on each SIMD target, and libjpeg's coefficients.
add_library(test_entropy STATIC
  support/entropy_targets.cc support/jpeg_coefficients.cc)
target_link_libraries(test_entropy
  PUBLIC test_jpeg
  PRIVATE JPEG::JPEG hwy::hwy infeed_options)
# As preprocess has them: the numbers of the targets must be the same.
target_compile_definitions(test_entropy PRIVATE
  $<TARGET_PROPERTY:infeed_preprocess,COMPILE_DEFINITIONS>)

infeed_test(jpeg_entropy_test
  SOURCES jpeg_entropy_test.cc jpeg_huffman_test.cc
  LIBRARIES test_entropy
  LABELS core)
infeed_test(preprocess_test
  SOURCES
    antialias_test.cc
    packed_copy_test.cc
    crop_test.cc
    framing_test.cc
    outside_pixels_test.cc
    pad_crop_test.cc
    preprocess_golden_test.cc
    preprocessor_warning_test.cc
    recipe_golden_test.cc
    recipe_kernels_test.cc
    recipe_test.cc
    recipe_window_test.cc
    resize_sink_test.cc
    resize_test.cc
    simd_target_test.cc
    torchvision_crop_test.cc
    window_sink_test.cc
    tpu_golden_test.cc
  LIBRARIES test_jpeg
  LABELS core)
# It counts what is taken from the heap, by functions that sanitizers have too.
if(NOT INFEED_SANITIZE)
  set(INFEED_AUGMENT_ALLOCATION_TEST augment_allocation_test.cc)
endif()
infeed_test(augment_test
  SOURCES
    ${INFEED_AUGMENT_ALLOCATION_TEST}
    augment_color_ops_test.cc
    augment_erasing_test.cc
    augment_geometric_ops_test.cc
    augment_golden_test.cc
    augment_jitter_test.cc
    augment_options_test.cc
    augment_policy_test.cc
    augment_test.cc
  LIBRARIES infeed::preprocess
  LABELS core)
# Not under TSan: OpenCV loads GDAL, whose locks it reports.
infeed_test(opencv_image_test
  SOURCES
    exif_test.cc
    image_decoder_test.cc
    opencv_image_test.cc
    png_recipes_test.cc
    stored_png_test.cc
  LIBRARIES test_jpeg opencv_core opencv_imgcodecs
  LABELS core)
infeed_test(jpeg_seek_index_test
  SOURCES jpeg_seek_index_test.cc seek_mutation_test.cc
  LIBRARIES infeed::preprocess infeed::records test_jpeg
  LABELS core)
add_dependencies(core_tests
  augment_test
  jpeg_backhalf_test
  jpeg_entropy_test
  jpeg_seek_index_test
  jpeg_test
  opencv_image_test
  preprocess_test)
add_dependencies(tsan_tests
  jpeg_backhalf_test
  jpeg_entropy_test
  jpeg_test
  preprocess_test)

infeed_fuzz(image_size_fuzz LIBRARIES infeed::preprocess)
infeed_fuzz(jpeg_difference_fuzz LIBRARIES decoder_checks)
infeed_fuzz(seek_index_fuzz LIBRARIES infeed::preprocess)

infeed_test(jpeg_equality_test
  SOURCES jpeg_equality_test.cc jpeg_extreme_test.cc jpeg_irregular_test.cc
          support/raw_jpeg.cc
  LIBRARIES decoder_checks test_jpeg
  LABELS core)
add_dependencies(core_tests jpeg_equality_test)

infeed_test(decoder_checks_test
  SOURCES decode_outcome_test.cc jpeg_source_test.cc random_windows_test.cc
          window_check_test.cc
  LIBRARIES decoder_checks test_jpeg
  LABELS core)
add_dependencies(core_tests decoder_checks_test)
if(INFEED_BENCHMARKS)
  infeed_test(decoder_programs_test
    SOURCES decode_bench_test.cc in_turns_test.cc speed_table_test.cc
            verify_decoder_test.cc
    LIBRARIES decode_measures test_jpeg nlohmann_json::nlohmann_json
    LABELS end_to_end)
  add_dependencies(decoder_programs_test decode_bench verify_decoder)
endif()
