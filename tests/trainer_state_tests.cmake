infeed_test(trainer_state_test
  SOURCES
    checkpoint_test.cc
    eval_result_test.cc
    manifest_test.cc
    metrics_test.cc
    metrics_log_test.cc
    model_dir_test.cc
    param_docs_test.cc
    params_parse_test.cc
    params_test.cc
    progress_test.cc
    resnet_plan_test.cc
    run_state_test.cc
    safetensors_test.cc
  LIBRARIES infeed::trainer_state infeed::records
            nlohmann_json::nlohmann_json
  LABELS core)
target_compile_definitions(trainer_state_test PRIVATE
  INFEED_DOCS="${PROJECT_SOURCE_DIR}/docs")
add_dependencies(core_tests trainer_state_test)
add_dependencies(tsan_tests trainer_state_test)

infeed_fuzz(safetensors_fuzz LIBRARIES infeed::trainer_state)
infeed_fuzz(params_fuzz LIBRARIES infeed::trainer_state)
