# What a run keeps: parameters, checkpoints, logs. A library of its own, free
# of LibTorch and entering no oneTBB, so that every sanitizer covers it.
infeed_library(trainer_state
  SOURCES
    batch_norm_ranks.cc
    best_checkpoint.cc
    checkpoint.cc
    checkpoint_follower.cc
    checkpoint_save.cc
    checkpoint_writer.cc
    device_use.cc
    eval_file.cc
    eval_result.cc
    eval_sums.cc
    export_folder.cc
    graph_builder.cc
    layer_plan.cc
    lenet_graph.cc
    machine_check.cc
    manifest.cc
    metrics.cc
    metrics_log.cc
    mode.cc
    model_cost.cc
    model_dir.cc
    model_graph.cc
    model_labels.cc
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
    predict_input.cc
    prediction_log.cc
    preprocessing_json.cc
    presets.cc
    progress.cc
    pth_file.cc
    rank_launchers.cc
    rank_place.cc
    rank_variables.cc
    ranks.cc
    resnet_graph.cc
    resnet_plan.cc
    resume.cc
    run_clock.cc
    run_state.cc
    safetensors.cc
    safetensors_header.cc
    slurm_lists.cc
    sorted_table.cc
    stored_type.cc
    strided_copy.cc
    tensor_bundle.cc
    tensorflow_weights.cc
    torch_script_source.cc
    warm_start.cc
    weights_file.cc
    zip_archive.cc
  HEADERS
    batch_norm_ranks.h
    best_checkpoint.h
    checkpoint.h
    checkpoint_follower.h
    checkpoint_save.h
    checkpoint_writer.h
    device_use.h
    eval_file.h
    eval_result.h
    eval_sums.h
    export_folder.h
    graph_builder.h
    host_tensor.h
    inference_graph.h
    layer_plan.h
    machine_check.h
    manifest.h
    metrics.h
    metrics_log.h
    mode.h
    model_cost.h
    model_dir.h
    model_graph.h
    model_labels.h
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
    pixel_statistics.h
    predict_input.h
    prediction.h
    prediction_log.h
    preprocessing_json.h
    presets.h
    progress.h
    pth_file.h
    rank_place.h
    rank_variables.h
    ranks.h
    resnet_plan.h
    resume.h
    run_clock.h
    run_state.h
    safetensors.h
    safetensors_header.h
    slurm_lists.h
    sorted_table.h
    stored_type.h
    strided_copy.h
    tensor_bundle.h
    tensorflow_weights.h
    torch_script_source.h
    train_params.h
    warm_start.h
    weights_file.h
    zip_archive.h
  PUBLIC infeed::base infeed::pipeline infeed::records
  PRIVATE fmt::fmt nlohmann_json::nlohmann_json
          protobuf::libprotobuf yaml-cpp ${INFEED_ZIP})

# Included as "trainer/onnx.pb.h" and "trainer/tensor_bundle.pb.h", each by one
# source alone.
protobuf_generate(TARGET infeed_trainer_state LANGUAGE cpp
  PROTOS onnx.proto tensor_bundle.proto)
target_compile_definitions(infeed_trainer_state
  PRIVATE INFEED_VERSION="${PROJECT_VERSION}")
target_include_directories(infeed_trainer_state
  PRIVATE $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}>)

# What the folder's other libraries link for it.
set(INFEED_TRAINER_STATE_LIBRARIES infeed::trainer_state)
