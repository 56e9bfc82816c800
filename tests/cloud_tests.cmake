infeed_test(cloud_test
  SOURCES support/loopback_server.cc support/served_object.cc
          support/upload_store.cc byte_budget_test.cc
          cloud_credentials_test.cc dataset_info_url_test.cc
          fetch_pool_test.cc google_token_test.cc http_client_test.cc
          http_retry_test.cc object_shards_test.cc object_sink_test.cc
          object_source_test.cc object_store_test.cc object_xml_test.cc
          record_store_url_test.cc secrets_guard_test.cc shard_cache_test.cc
          sigv4_test.cc url_test.cc
  LIBRARIES infeed::records object_server
  LABELS core)
add_dependencies(core_tests cloud_test)
add_dependencies(tsan_tests cloud_test)
