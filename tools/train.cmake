infeed_program(train_resnet
  SOURCES train_resnet.cc signals.cc
  LIBRARIES infeed_flags infeed::trainer)
