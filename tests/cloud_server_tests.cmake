# Sources and sinks in the cloud, against an object server of the tests' own:
# Python, written apart from the library.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

add_test(NAME object_server.self_test
  COMMAND Python3::Interpreter
          ${CMAKE_CURRENT_SOURCE_DIR}/support/object_server.py --self_test)
set_tests_properties(object_server.self_test PROPERTIES LABELS core)

add_library(object_server STATIC
  support/object_server.cc support/test_identity.cc)
target_include_directories(object_server PUBLIC ${PROJECT_SOURCE_DIR})
target_compile_definitions(object_server PRIVATE
  INFEED_PYTHON="${Python3_EXECUTABLE}"
  INFEED_TEST_SUPPORT="${CMAKE_CURRENT_SOURCE_DIR}/support")
target_link_libraries(object_server
  PUBLIC infeed::base
  PRIVATE nlohmann_json::nlohmann_json OpenSSL::Crypto infeed_options)

infeed_test(object_server_test
  SOURCES object_server_test.cc
  LIBRARIES object_server
  LABELS core)
add_dependencies(core_tests object_server_test)

infeed_test(cloud_server_test
  SOURCES cloud_auth_test.cc cloud_cache_test.cc cloud_faults_test.cc
          cloud_folder_test.cc cloud_list_test.cc cloud_reads_test.cc cloud_signature_test.cc
          cloud_upload_test.cc
  LIBRARIES infeed::records object_server
  LABELS core)
add_dependencies(core_tests cloud_server_test)

infeed_test(cloud_programs_test
  SOURCES cloud_programs_test.cc signed_urls_test.cc
  LIBRARIES infeed::records object_server test_jpeg
  LABELS end_to_end)
add_dependencies(cloud_programs_test imagenet_to_records records train_resnet)

infeed_test(cloud_pipeline_test
  SOURCES cloud_pipeline_test.cc
  LIBRARIES pipeline_test_support object_server
  LABELS tbb)
add_dependencies(core_tests cloud_pipeline_test)

infeed_test(cloud_conversion_test
  SOURCES cloud_conversion_test.cc cloud_images_test.cc
          support/running_program.cc
  LIBRARIES infeed::records object_server test_jpeg
  LABELS end_to_end)
add_dependencies(cloud_conversion_test imagenet_to_records)

infeed_fuzz(cloud_xml_fuzz LIBRARIES infeed::records)
infeed_fuzz(http_headers_fuzz LIBRARIES infeed::records)

# Whole trainings in the cloud.
infeed_test(cloud_training_test
  SOURCES cloud_training_test.cc support/running_program.cc
  LIBRARIES infeed::trainer_state object_server pipeline_test_support
  LABELS end_to_end)
add_dependencies(cloud_training_test train_resnet)

infeed_test(signal_waits_test
  SOURCES signal_waits_test.cc support/loopback_server.cc
          support/running_program.cc
  LIBRARIES infeed::trainer_state object_server pipeline_test_support test_jpeg
  LABELS end_to_end)
add_dependencies(signal_waits_test imagenet_to_records records train_resnet)

infeed_test(trainer_remote_test
  SOURCES
    outbox_test.cc
    remote_checkpoints_test.cc
    remote_folder_test.cc
    remote_model_test.cc
    remote_weights_test.cc
    scratch_folder_test.cc
    sent_files_test.cc
    uploader_test.cc
    uploading_log_test.cc
  LIBRARIES infeed::trainer_remote object_server
  LABELS core)
add_dependencies(core_tests trainer_remote_test)
add_dependencies(tsan_tests trainer_remote_test)
