# The verbs of `records`; a test links them too.
infeed_library(record_verbs
  SOURCES read_progress.cc record_pass.cc records_cat.cc records_command.cc
          records_count.cc records_index.cc records_verify.cc tracked_source.cc
  HEADERS read_progress.h record_pass.h records_command.h records_verbs.h
          tracked_source.h
  PUBLIC infeed::base infeed::records
  PRIVATE infeed::tools infeed::preprocess CLI11::CLI11
          fmt::fmt nlohmann_json::nlohmann_json)
infeed_program(records
  SOURCES records.cc
  LIBRARIES infeed::record_verbs infeed::tools CLI11::CLI11)
