# Without LibTorch, so that a test reads command lines quickly.
infeed_library(train_flags UNITY
  SOURCES
    checkpoint_flags.cc
    local_ranks.cc
    model_parameters.cc
    rank_flags.cc
    reference_flags.cc
    storage_flags.cc
    train_flags.cc
    unknown_flags.cc
  HEADERS
    checkpoint_flags.h
    local_ranks.h
    model_parameters.h
    rank_flags.h
    reference_flags.h
    storage_flags.h
    train_flags.h
    unknown_flags.h
  PUBLIC infeed::observation infeed::tools infeed::trainer_state
  PRIVATE CLI11::CLI11 fmt::fmt)

infeed_program(train_resnet
  SOURCES
    train_resnet.cc
  LIBRARIES infeed::train_flags infeed::trainer infeed::trainer_remote fmt::fmt)
