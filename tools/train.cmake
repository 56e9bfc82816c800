infeed_program(train_resnet
  SOURCES
    reference_flags.cc
    train_flags.cc
    train_resnet.cc
  LIBRARIES infeed::observation infeed::tools infeed::trainer CLI11::CLI11 fmt::fmt)
