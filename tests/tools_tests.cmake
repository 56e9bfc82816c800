infeed_test(flags_test
  SOURCES cloud_flags_test.cc flags_test.cc input_flags_test.cc
          selection_files_test.cc selection_flags_test.cc signals_test.cc
  LIBRARIES infeed::input_flags infeed::tools CLI11::CLI11
  LABELS core)
add_dependencies(core_tests flags_test)

infeed_test(help_texts_test
  SOURCES help_texts_test.cc
  LIBRARIES infeed::base
  LABELS end_to_end)
add_dependencies(help_texts_test imagenet_to_records make_demo_images
                 pipeline_throughput records train_resnet)

add_test(NAME build_version_test
  COMMAND Python3::Interpreter
          ${CMAKE_CURRENT_SOURCE_DIR}/build_version_test.py ${CMAKE_COMMAND})
set_tests_properties(build_version_test PROPERTIES LABELS core)

infeed_test(observation_test
  SOURCES
    metrics_pages_test.cc
    metrics_server_test.cc
  LIBRARIES infeed::observation nlohmann_json::nlohmann_json
  LABELS core)
add_dependencies(core_tests observation_test)
add_dependencies(tsan_tests observation_test)

infeed_test(record_verbs_test
  SOURCES image_format_test.cc file_below_test.cc read_progress_test.cc
          record_json_test.cc record_pass_test.cc safe_name_test.cc
          shard_arguments_test.cc tally_test.cc text_table_test.cc tracked_source_test.cc
  LIBRARIES infeed::record_verbs test_jpeg nlohmann_json::nlohmann_json
  LABELS core)
add_dependencies(core_tests record_verbs_test)
add_dependencies(tsan_tests record_verbs_test)

# Not under TSan: OpenCV loads GDAL, whose locks it reports.
infeed_test(thumbnail_test
  SOURCES thumbnail_test.cc
  LIBRARIES infeed::record_verbs test_jpeg
  LABELS core)
add_dependencies(core_tests thumbnail_test)

infeed_test(records_program_test
  SOURCES records_extract_test.cc records_program_test.cc
          records_read_test.cc records_stats_test.cc records_verify_test.cc
  LIBRARIES infeed::records test_jpeg nlohmann_json::nlohmann_json
  LABELS end_to_end)
add_dependencies(records_program_test records imagenet_to_records)

infeed_test(records_cloud_test
  SOURCES records_cloud_test.cc
  LIBRARIES infeed::records object_server test_jpeg
            nlohmann_json::nlohmann_json
  LABELS end_to_end)
add_dependencies(records_cloud_test records)

# What a conversion is planned from.
infeed_test(conversion_input_test
  SOURCES conversion_plan_test.cc csv_test.cc data_split_test.cc
          duplicates_test.cc finished_shard_test.cc idx_file_test.cc
          image_encoder_test.cc image_manifest_test.cc image_tree_test.cc
          parallel_for_test.cc python_shuffle_test.cc raw_formats_test.cc
          raw_images_test.cc shard_fingerprint_test.cc shard_plan_test.cc
          shards_flag_test.cc task_share_test.cc tree_union_test.cc
  LIBRARIES infeed::converter infeed::tools test_jpeg
  LABELS core)
add_dependencies(core_tests conversion_input_test)
add_dependencies(tsan_tests conversion_input_test)

# What enters oneTBB.
infeed_test(converter_test
  SOURCES conversion_graph_test.cc converter_seek_index_test.cc
          converter_test.cc shard_upload_test.cc
  LIBRARIES infeed::converter test_jpeg
  LABELS tbb)
add_dependencies(core_tests converter_test)

infeed_test(demo_test
  SOURCES demo_dataset_test.cc demo_shapes_test.cc
  LIBRARIES infeed::demo
  LABELS core)
add_dependencies(core_tests demo_test)
add_dependencies(tsan_tests demo_test)

infeed_test(converter_program_test
  SOURCES imagenet_to_records_images_test.cc
          imagenet_to_records_input_test.cc
          imagenet_to_records_restart_test.cc
          imagenet_to_records_tasks_test.cc imagenet_to_records_test.cc
          imagenet_to_records_upload_test.cc
          make_demo_images_test.cc support/running_program.cc
  LIBRARIES infeed::pipeline infeed::records object_server test_jpeg
            nlohmann_json::nlohmann_json
  LABELS end_to_end)
add_dependencies(converter_program_test imagenet_to_records make_demo_images)

infeed_test(record_writing_test
  SOURCES record_copier_test.cc record_diff_test.cc shard_cut_test.cc
          shard_repair_test.cc
  LIBRARIES infeed::record_writing infeed::pipeline test_jpeg
            nlohmann_json::nlohmann_json
  LABELS core)
add_dependencies(core_tests record_writing_test)
add_dependencies(tsan_tests record_writing_test)

infeed_test(records_writing_test
  SOURCES records_diff_test.cc records_index_test.cc
          records_interrupted_test.cc records_reshard_test.cc
          records_seek_test.cc
          records_split_test.cc records_writing_cloud_test.cc
          records_writing_test.cc
          support/running_program.cc
  LIBRARIES infeed::records infeed::tools object_server test_jpeg
            nlohmann_json::nlohmann_json
  LABELS end_to_end)
add_dependencies(records_writing_test records)

infeed_fuzz(csv_fuzz LIBRARIES infeed::converter)
infeed_fuzz(idx_fuzz LIBRARIES infeed::converter)
