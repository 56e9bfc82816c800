# The verbs of `records` that write shards; a test links them too.
infeed_library(record_writing UNITY
  SOURCES bad_records.cc diff_report.cc group_rewriter.cc
          label_order.cc raw_bytes.cc record_copier.cc record_diff.cc
          record_hash.cc record_sequence.cc record_stream.cc records_diff.cc
          records_index.cc records_merge.cc records_repair.cc
          records_reshard.cc records_split.cc records_writing_verbs.cc
          repair_report.cc seek_file_maker.cc shard_cut.cc shard_indexer.cc shard_repair.cc
          shard_rewriter.cc shard_set_info.cc staged_folder.cc
          writing_options.cc
  HEADERS bad_records.h group_rewriter.h
          label_order.h raw_bytes.h record_copier.h record_diff.h
          record_hash.h record_sequence.h record_stream.h
          records_writing_verbs.h repair_report.h seek_file_maker.h shard_cut.h shard_indexer.h
          shard_repair.h shard_rewriter.h shard_set_info.h staged_folder.h
          writing_options.h
  PUBLIC infeed::base infeed::records
  PRIVATE infeed::record_verbs infeed::tools infeed::preprocess
          infeed::pipeline CLI11::CLI11 fmt::fmt nlohmann_json::nlohmann_json)
