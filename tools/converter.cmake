infeed_library(converter
  SOURCES
    conversion_graph.cc
    conversion_notices.cc
    conversion_plan.cc
    conversion_report.cc
    conversion_text.cc
    converter.cc
    csv.cc
    data_split.cc
    duplicates.cc
    earlier_work.cc
    finish_conversion.cc
    finished_shard.cc
    idx_file.cc
    image_encoder.cc
    image_manifest.cc
    image_source.cc
    image_tree.cc
    label_files.cc
    left_out.cc
    manifest_header.cc
    manifest_path.cc
    python_shuffle.cc
    raw_file.cc
    raw_formats.cc
    raw_images.cc
    raw_sets.cc
    record_maker.cc
    shard_converter.cc
    shard_fingerprint.cc
    shard_upload.cc
    shards_flag.cc
    task_share.cc
    tree_union.cc
    unreadable_format.cc
  HEADERS
    conversion_graph.h
    conversion_notices.h
    conversion_plan.h
    conversion_report.h
    conversion_text.h
    converter.h
    converter_options.h
    csv.h
    data_split.h
    duplicates.h
    earlier_work.h
    finish_conversion.h
    finished_shard.h
    idx_file.h
    image_encoder.h
    image_manifest.h
    image_source.h
    image_tree.h
    label_files.h
    left_out.h
    manifest_header.h
    manifest_path.h
    python_shuffle.h
    raw_file.h
    raw_formats.h
    raw_images.h
    raw_sets.h
    record_maker.h
    shard_converter.h
    shard_fingerprint.h
    shard_upload.h
    shards_flag.h
    task_share.h
    tree_union.h
    unreadable_format.h
  PUBLIC infeed::base infeed::records infeed::preprocess infeed::pipeline
         infeed::trainer_state
  PRIVATE infeed::charts infeed::tools TBB::tbb fmt::fmt
          nlohmann_json::nlohmann_json OpenSSL::Crypto)
infeed_program(imagenet_to_records
  SOURCES imagenet_to_records.cc output_flags.cc raw_input_flags.cc
  LIBRARIES infeed::converter infeed::charts infeed::tools
            CLI11::CLI11)

# As for pipeline/input_graph.cc.
if(INFEED_SANITIZE)
  set_source_files_properties(conversion_graph.cc
    PROPERTIES COMPILE_OPTIONS -fno-sanitize=vptr)
endif()
