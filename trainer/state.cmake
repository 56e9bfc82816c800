# What a run keeps: parameters, checkpoints, logs. A library of its own, free
# of LibTorch and entering no oneTBB, so that every sanitizer covers it.
infeed_library(trainer_state
  SOURCES
    checkpoint.cc
    eval_file.cc
    eval_result.cc
    eval_sums.cc
    layer_plan.cc
    manifest.cc
    metrics.cc
    metrics_log.cc
    model_dir.cc
    model_labels.cc
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
    predict_input.cc
    prediction_log.cc
    progress.cc
    resnet_plan.cc
    run_state.cc
    safetensors.cc
    safetensors_header.cc
    summary_writer.cc
  HEADERS
    checkpoint.h
    eval_file.h
    eval_result.h
    eval_sums.h
    layer_plan.h
    manifest.h
    metrics.h
    metrics_log.h
    model_dir.h
    model_labels.h
    model_layers.h
    model_options.h
    param_help.h
    param_ranges.h
    param_table.h
    param_value.h
    params.h
    params_parse.h
    predict_input.h
    prediction.h
    prediction_log.h
    progress.h
    resnet_plan.h
    run_state.h
    safetensors.h
    safetensors_header.h
    summary_writer.h
    train_params.h
  PUBLIC infeed::base infeed::pipeline infeed::records
  PRIVATE fmt::fmt nlohmann_json::nlohmann_json
          protobuf::libprotobuf yaml-cpp)

# Included as "trainer/event.pb.h", by summary_writer.cc alone.
protobuf_generate(TARGET infeed_trainer_state LANGUAGE cpp PROTOS event.proto)
target_include_directories(infeed_trainer_state
  PRIVATE $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}>)

# What the folder's other libraries link for it.
set(INFEED_TRAINER_STATE_LIBRARIES infeed::trainer_state)
