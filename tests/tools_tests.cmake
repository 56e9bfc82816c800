infeed_test(flags_test
  SOURCES flags_test.cc
  LIBRARIES infeed::tools CLI11::CLI11
  LABELS core)
add_dependencies(core_tests flags_test)
