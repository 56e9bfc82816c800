# What a run keeps: parameters, checkpoints, logs. A library of its own, free
# of LibTorch and entering no oneTBB, so that every sanitizer covers it.
infeed_library(trainer_state
  SOURCES
    checkpoint.cc
    eval_result.cc
    eval_sums.cc
    layer_plan.cc
    manifest.cc
    metrics.cc
    metrics_log.cc
    mode.cc
    model_dir.cc
    model_layers.cc
    param_help.cc
    param_table.cc
    param_table_data.cc
    param_table_input.cc
    param_table_model.cc
    param_table_optimizer.cc
    param_table_run.cc
    param_value.cc
    params.cc
    params_parse.cc
    pickle.cc
    pickle_calls.cc
    pickle_machine.cc
    pickle_stack.cc
    progress.cc
    pth_file.cc
    resnet_plan.cc
    run_state.cc
    safetensors.cc
    safetensors_header.cc
    sorted_table.cc
    stored_type.cc
    tensor_bundle.cc
    zip_archive.cc
  HEADERS
    checkpoint.h
    eval_result.h
    eval_sums.h
    host_tensor.h
    layer_plan.h
    manifest.h
    metrics.h
    metrics_log.h
    mode.h
    model_dir.h
    model_layers.h
    model_options.h
    param_help.h
    param_ranges.h
    param_table.h
    param_value.h
    params.h
    params_parse.h
    pickle.h
    pickle_machine.h
    prediction.h
    progress.h
    pth_file.h
    resnet_plan.h
    run_state.h
    safetensors.h
    safetensors_header.h
    sorted_table.h
    stored_type.h
    tensor_bundle.h
    train_params.h
    zip_archive.h
  PUBLIC infeed::base infeed::pipeline infeed::records
  PRIVATE fmt::fmt nlohmann_json::nlohmann_json
          protobuf::libprotobuf yaml-cpp ${INFEED_ZIP})

# Included as "trainer/tensor_bundle.pb.h", by one source alone.
protobuf_generate(TARGET infeed_trainer_state LANGUAGE cpp
  PROTOS tensor_bundle.proto)
target_include_directories(infeed_trainer_state
  PRIVATE $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}>)

# What the folder's other libraries link for it.
set(INFEED_TRAINER_STATE_LIBRARIES infeed::trainer_state)
