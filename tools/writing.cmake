# The verbs of `records` that write shards; a test links them too.
infeed_library(record_writing
  SOURCES interruption.cc raw_bytes.cc records_repair.cc
          records_writing_verbs.cc repair_report.cc shard_plan.cc
          shard_repair.cc shard_set_info.cc signals.cc staged_folder.cc
          writing_options.cc
  HEADERS interruption.h raw_bytes.h records_writing_verbs.h repair_report.h
          shard_plan.h shard_repair.h shard_set_info.h signals.h
          staged_folder.h writing_options.h
  PUBLIC infeed::base infeed::records
  PRIVATE infeed::record_verbs infeed::tools infeed::preprocess
          infeed::pipeline CLI11::CLI11 fmt::fmt nlohmann_json::nlohmann_json)
