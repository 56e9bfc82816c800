# The verbs of `records`; a test links them too. One file a line: verbs are
# added often.
infeed_library(record_verbs UNITY
  SOURCES
    dataset_stats.cc
    dataset_stats_html.cc
    dataset_stats_json.cc
    dataset_stats_report.cc
    dataset_stats_text.cc
    image_extractor.cc
    packed_record.cc
    file_below.cc
    read_progress.cc
    record_json.cc
    record_pass.cc
    record_selection.cc
    records_cat.cc
    records_command.cc
    records_count.cc
    records_extract.cc
    records_head.cc
    records_ls.cc
    records_stats.cc
    records_verify.cc
    safe_name.cc
    seek_check.cc
    shard_arguments.cc
    shard_check.cc
    shard_progress.cc
    shard_summary.cc
    tally.cc
    text_table.cc
    thumbnail.cc
    tracked_source.cc
    verify_report.cc
  HEADERS
    dataset_stats.h
    dataset_stats_report.h
    image_extractor.h
    packed_record.h
    payload_check.h
    file_below.h
    read_progress.h
    record_json.h
    record_pass.h
    record_selection.h
    records_command.h
    records_verbs.h
    safe_name.h
    seek_check.h
    shard_arguments.h
    shard_check.h
    shard_progress.h
    shard_summary.h
    tally.h
    text_table.h
    thumbnail.h
    tracked_source.h
    verify_report.h
  PUBLIC infeed::base infeed::records
  PRIVATE infeed::charts infeed::tools infeed::preprocess CLI11::CLI11
          fmt::fmt nlohmann_json::nlohmann_json)
infeed_program(records
  SOURCES records.cc
  LIBRARIES infeed::record_writing infeed::record_verbs infeed::tools
            CLI11::CLI11)
