infeed_program(records
  SOURCES records.cc records_verbs.cc records_verify.cc read_progress.cc
  LIBRARIES infeed::tools infeed::records infeed::preprocess CLI11::CLI11
            fmt::fmt nlohmann_json::nlohmann_json)
