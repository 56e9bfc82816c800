# Sources and sinks over the network, part of infeed::records.
target_sources(infeed_records
  PRIVATE
    aws_profile.cc byte_budget.cc cache_folder.cc cloud_credentials.cc
    cloud_runtime.cc cloud_settings.cc fetch_pool.cc google_token.cc
    http_client.cc http_retry.cc http_transfer.cc object_folder.cc
    object_shards.cc object_sink.cc object_source.cc object_store.cc object_store_write.cc
    object_xml.cc range_answer.cc read_ahead.cc secrets_guard.cc
    shard_cache.cc sigv4.cc small_object.cc store_client.cc url.cc
  PUBLIC FILE_SET HEADERS FILES
    aws_profile.h byte_budget.h cache_folder.h cloud_credentials.h
    cloud_runtime.h cloud_settings.h fetch_pool.h fnv_hash.h google_token.h
    http_client.h http_retry.h http_transfer.h object_folder.h object_shards.h object_sink.h
    object_source.h object_store.h object_xml.h range_answer.h read_ahead.h
    secrets_guard.h shard_cache.h sigv4.h small_object.h stopped_error.h
    store_client.h
    url.h)
target_link_libraries(infeed_records
  PRIVATE CURL::libcurl OpenSSL::Crypto pugixml::pugixml)
