# What a run keeps: parameters, checkpoints, logs. A library of its own, free
# of LibTorch and entering no oneTBB, so that every sanitizer covers it.
infeed_library(trainer_state
  SOURCES
    checkpoint.cc
    checkpoint_save.cc
    eval_file.cc
    eval_result.cc
    eval_sums.cc
    graph_builder.cc
    layer_plan.cc
    lenet_graph.cc
    manifest.cc
    metrics.cc
    metrics_log.cc
    mode.cc
    model_dir.cc
    model_graph.cc
    model_labels.cc
    model_identity.cc
    model_layers.cc
    nearest_name.cc
    onnx_file.cc
    param_checks.cc
    param_help.cc
    param_scalar.cc
    param_table.cc
    param_table_data.cc
    param_table_input.cc
    param_table_model.cc
    param_table_optimizer.cc
    param_table_run.cc
    param_value.cc
    param_yaml.cc
    params.cc
    params_parse.cc
    pickle.cc
    pickle_calls.cc
    pickle_machine.cc
    pickle_stack.cc
    pictures.cc
    predict_input.cc
    prediction_log.cc
    presets.cc
    progress.cc
    pth_file.cc
    resnet_graph.cc
    resnet_plan.cc
    run_clock.cc
    run_state.cc
    safetensors.cc
    safetensors_header.cc
    sorted_table.cc
    stored_type.cc
    strided_copy.cc
    summary_writer.cc
    tensor_bundle.cc
    tensorflow_weights.cc
    torch_script_source.cc
    train_log.cc
    warm_start.cc
    weights_file.cc
    zip_archive.cc
  HEADERS
    checkpoint.h
    checkpoint_save.h
    eval_file.h
    eval_result.h
    eval_sums.h
    graph_builder.h
    host_tensor.h
    inference_graph.h
    layer_plan.h
    manifest.h
    metrics.h
    metrics_log.h
    mode.h
    model_dir.h
    model_graph.h
    model_labels.h
    model_identity.h
    model_layers.h
    model_options.h
    nearest_name.h
    onnx_file.h
    param_checks.h
    param_help.h
    param_ranges.h
    param_scalar.h
    param_table.h
    param_value.h
    param_yaml.h
    params.h
    params_parse.h
    pickle.h
    pickle_machine.h
    pictures.h
    predict_input.h
    prediction.h
    prediction_log.h
    presets.h
    progress.h
    pth_file.h
    resnet_plan.h
    run_clock.h
    run_state.h
    safetensors.h
    safetensors_header.h
    sorted_table.h
    stored_type.h
    strided_copy.h
    summary_writer.h
    tensor_bundle.h
    tensorflow_weights.h
    torch_script_source.h
    train_log.h
    train_params.h
    warm_start.h
    weights_file.h
    zip_archive.h
  PUBLIC infeed::base infeed::pipeline infeed::records
  PRIVATE infeed::preprocess fmt::fmt nlohmann_json::nlohmann_json
          protobuf::libprotobuf yaml-cpp ${INFEED_ZIP})

# Each included by one source alone: summary_writer.cc, onnx_file.cc and
# tensor_bundle.cc.
protobuf_generate(TARGET infeed_trainer_state LANGUAGE cpp
  PROTOS event.proto onnx.proto tensor_bundle.proto)
target_compile_definitions(infeed_trainer_state
  PRIVATE INFEED_VERSION="${PROJECT_VERSION}")
target_include_directories(infeed_trainer_state
  PRIVATE $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}>)

# What the folder's other libraries link for it.
set(INFEED_TRAINER_STATE_LIBRARIES infeed::trainer_state)
