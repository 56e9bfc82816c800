# What ./dev verify-decoder and ./dev bench decode run, on any JPEGs.
add_executable(verify_decoder verify_decoder.cc)
target_link_libraries(verify_decoder PRIVATE
  decoder_checks infeed::charts infeed::tools CLI11::CLI11 fmt::fmt
  infeed_options)
set_target_properties(verify_decoder PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

add_library(decode_measures STATIC
  decode_measures.cc decode_rivals.cc in_turns.cc speed_table.cc)
target_include_directories(decode_measures PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(decode_measures
  PUBLIC infeed::preprocess infeed::records
  PRIVATE JPEG::JPEG opencv_core opencv_imgproc fmt::fmt
          nlohmann_json::nlohmann_json infeed_options)

add_executable(decode_bench decode_bench.cc)
target_link_libraries(decode_bench PRIVATE
  decode_measures decoder_checks infeed::charts infeed::tools
  CLI11::CLI11 fmt::fmt infeed_options)
set_target_properties(decode_bench PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
