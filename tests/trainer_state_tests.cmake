infeed_test(trainer_state_test
  SOURCES
    best_checkpoint_test.cc
    checkpoint_follower_test.cc
    checkpoint_test.cc
    checkpoint_writer_test.cc
    device_use_test.cc
    eval_file_test.cc
    eval_result_test.cc
    export_folder_test.cc
    label_facts_test.cc
    machine_check_test.cc
    manifest_test.cc
    memory_need_test.cc
    metrics_log_test.cc
    metrics_test.cc
    model_cost_test.cc
    model_dir_test.cc
    model_graph_test.cc
    model_labels_test.cc
    nearest_name_test.cc
    non_finite_test.cc
    param_checks_test.cc
    param_docs_test.cc
    param_scalar_test.cc
    param_yaml_test.cc
    params_parse_test.cc
    params_test.cc
    pickle_test.cc
    predict_input_test.cc
    prediction_log_test.cc
    prediction_sample_test.cc
    preprocessing_json_test.cc
    presets_test.cc
    pth_file_test.cc
    rank_place_test.cc
    rank_token_test.cc
    resnet_plan_test.cc
    resume_test.cc
    run_origin_test.cc
    run_state_test.cc
    safetensors_test.cc
    stored_type_test.cc
    strided_copy_test.cc
    tensor_bundle_test.cc
    warm_start_test.cc
  LIBRARIES infeed::trainer_state infeed::preprocess infeed::records
            nlohmann_json::nlohmann_json ZLIB::ZLIB
  LABELS core)
target_compile_definitions(trainer_state_test PRIVATE
  INFEED_DOCS="${PROJECT_SOURCE_DIR}/docs")
add_dependencies(core_tests trainer_state_test)
add_dependencies(tsan_tests trainer_state_test)

infeed_fuzz(params_fuzz LIBRARIES infeed::trainer_state)
infeed_fuzz(pth_fuzz LIBRARIES infeed::trainer_state)
infeed_fuzz(safetensors_fuzz LIBRARIES infeed::trainer_state)
infeed_fuzz(tensor_bundle_fuzz LIBRARIES infeed::trainer_state)

# What other programs make of exported models. ONNX's library stays apart from
# LibTorch, which may bring one of its own.
find_package(ONNX REQUIRED)
infeed_test(onnx_checker_test
  SOURCES
    onnx_checker_test.cc
  LIBRARIES infeed::trainer_state onnx
  LABELS trainer)

# A save of a program of its own, which a preloaded library kills or lets fail
# at one of its calls.
add_library(file_faults MODULE support/file_faults.cc)
target_link_libraries(file_faults PRIVATE infeed_options)
add_executable(save_checkpoint support/save_checkpoint.cc)
target_include_directories(save_checkpoint PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(save_checkpoint PRIVATE
  infeed::trainer_state infeed_options)
infeed_test(checkpoint_faults_test
  SOURCES
    checkpoint_faults_test.cc
  LIBRARIES infeed::trainer_state
  LABELS end_to_end)
target_compile_definitions(checkpoint_faults_test PRIVATE
  INFEED_FILE_FAULTS="$<TARGET_FILE:file_faults>"
  INFEED_SAVE_CHECKPOINT="$<TARGET_FILE:save_checkpoint>")
add_dependencies(checkpoint_faults_test file_faults save_checkpoint)
