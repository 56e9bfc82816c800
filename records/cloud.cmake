# Sources and sinks over the network, part of infeed::records.
target_sources(infeed_records
  PRIVATE http_client.cc http_retry.cc http_transfer.cc object_xml.cc sigv4.cc
          url.cc
  PUBLIC FILE_SET HEADERS FILES
         http_client.h http_retry.h http_transfer.h object_xml.h sigv4.h url.h)
target_link_libraries(infeed_records
  PRIVATE CURL::libcurl OpenSSL::Crypto pugixml::pugixml)
