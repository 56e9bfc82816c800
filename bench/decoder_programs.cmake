# What ./dev verify-decoder and ./dev bench decode run, on any folder of JPEGs.
add_library(decoder_checks STATIC
  decode_outcome.cc jpeg_source.cc random_windows.cc window_check.cc)
target_include_directories(decoder_checks PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(decoder_checks
  PUBLIC infeed::preprocess infeed::records
  PRIVATE infeed::tools fmt::fmt infeed_options)

add_executable(verify_decoder verify_decoder.cc)
target_link_libraries(verify_decoder PRIVATE
  decoder_checks infeed::tools infeed::trainer_state CLI11::CLI11 fmt::fmt
  infeed_options)
set_target_properties(verify_decoder PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
