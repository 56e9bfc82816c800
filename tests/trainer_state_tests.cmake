infeed_test(trainer_state_test
  SOURCES
    checkpoint_test.cc
    eval_file_test.cc
    eval_result_test.cc
    manifest_test.cc
    metrics_log_test.cc
    metrics_test.cc
    model_dir_test.cc
    model_identity_test.cc
    model_labels_test.cc
    nearest_name_test.cc
    param_checks_test.cc
    param_docs_test.cc
    param_scalar_test.cc
    param_yaml_test.cc
    params_parse_test.cc
    params_test.cc
    pickle_test.cc
    pictures_test.cc
    predict_input_test.cc
    prediction_log_test.cc
    presets_test.cc
    progress_test.cc
    pth_file_test.cc
    resnet_plan_test.cc
    run_clock_test.cc
    run_state_test.cc
    safetensors_test.cc
    stored_type_test.cc
    strided_copy_test.cc
    summary_writer_test.cc
    tensor_bundle_test.cc
    warm_start_test.cc
  LIBRARIES infeed::trainer_state infeed::preprocess infeed::records
            nlohmann_json::nlohmann_json
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
