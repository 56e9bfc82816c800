# What a run keeps: parameters, checkpoints, logs. A library of its own, free
# of LibTorch and oneTBB, so that every sanitizer covers it.
infeed_library(trainer_state
  SOURCES checkpoint.cc manifest.cc model_dir.cc param_help.cc param_table.cc
          param_value.cc params.cc params_parse.cc run_state.cc safetensors.cc
          safetensors_header.cc
  HEADERS checkpoint.h manifest.h model_dir.h param_help.h param_table.h
          param_value.h params.h params_parse.h run_state.h safetensors.h
          safetensors_header.h
  PUBLIC infeed::base
  PRIVATE infeed::records fmt::fmt nlohmann_json::nlohmann_json yaml-cpp)

# What the folder's other libraries link for it.
set(INFEED_TRAINER_STATE_LIBRARIES infeed::trainer_state)
