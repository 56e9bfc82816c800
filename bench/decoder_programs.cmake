# What ./dev verify-decoder and ./dev bench decode run, on any JPEGs.
add_executable(verify_decoder verify_decoder.cc)
target_link_libraries(verify_decoder PRIVATE
  decoder_checks infeed::tools infeed::trainer_state CLI11::CLI11 fmt::fmt
  infeed_options)
set_target_properties(verify_decoder PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
