infeed_test(records_test
  SOURCES append_file_test.cc byte_size_test.cc byte_source_test.cc
          byte_stream_test.cc class_list_test.cc compression_test.cc
          crc32c_test.cc dali_index_test.cc dataset_info_test.cc
          example_parts_test.cc folder_claim_test.cc image_record_test.cc
          imagenet_example_test.cc json_test.cc label_index_test.cc
          read_plan_test.cc record_index_test.cc
          imagenet_example_test.cc packed_index_test.cc packed_store_test.cc
          passed_records_test.cc plain_text_test.cc read_plan_test.cc record_index_test.cc
          record_store_test.cc seek_feature_test.cc seek_file_test.cc
          shard_set_test.cc shards_test.cc
          tensorflow_golden_test.cc
          tfrecord_format_test.cc tfrecord_reader_test.cc
          tfrecord_resync_test.cc whole_number_test.cc
  LIBRARIES infeed::records nlohmann_json::nlohmann_json
  LABELS core)
add_dependencies(core_tests records_test)
add_dependencies(tsan_tests records_test)

# A program each: one counts what it takes from the heap, one has a pread() of
# its own, one mounts a small file system.
foreach(test tfrecord_damage_test flaky_read_test writer_full_disk_test)
  infeed_test(${test}
    SOURCES ${test}.cc
    LIBRARIES infeed::records
    LABELS core)
  add_dependencies(core_tests ${test})
endforeach()

infeed_fuzz(tfrecord_fuzz LIBRARIES infeed::records)
infeed_fuzz(index_fuzz LIBRARIES infeed::records)

# Compares with protobuf's own parser, so it needs the generated code.
infeed_fuzz(example_fuzz LIBRARIES infeed::records protobuf::libprotobuf)
target_include_directories(example_fuzz PRIVATE ${PROJECT_BINARY_DIR})
