infeed_test(records_test
  SOURCES byte_source_test.cc crc32c_test.cc dataset_info_test.cc
          imagenet_example_test.cc
          record_index_test.cc record_store_test.cc shards_test.cc
          tfrecord_format_test.cc tfrecord_reader_test.cc
  LIBRARIES infeed::records
  LABELS core)
add_dependencies(core_tests records_test)
add_dependencies(tsan_tests records_test)
