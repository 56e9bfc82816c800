infeed_test(flags_test
  SOURCES flags_test.cc
  LIBRARIES infeed::tools CLI11::CLI11
  LABELS core)
add_dependencies(core_tests flags_test)

infeed_test(records_program_test
  SOURCES records_program_test.cc read_progress_test.cc
          ${PROJECT_SOURCE_DIR}/tools/read_progress.cc
  LIBRARIES infeed::records test_jpeg fmt::fmt
  LABELS end_to_end)
add_dependencies(records_program_test records)
