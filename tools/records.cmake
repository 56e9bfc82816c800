# The verbs of `records`; a test links them too.
infeed_library(record_verbs
  SOURCES read_progress.cc records_cat.cc records_command.cc records_count.cc
          records_index.cc records_verify.cc
  HEADERS read_progress.h records_command.h records_verbs.h
  PUBLIC infeed::base
  PRIVATE infeed::tools infeed::records infeed::preprocess CLI11::CLI11
          fmt::fmt nlohmann_json::nlohmann_json)
infeed_program(records
  SOURCES records.cc
  LIBRARIES infeed::record_verbs infeed::tools CLI11::CLI11)
