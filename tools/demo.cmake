infeed_library(demo
  SOURCES demo_dataset.cc demo_motifs.cc demo_shapes.cc
  HEADERS demo_dataset.h demo_motifs.h demo_shapes.h
  PUBLIC infeed::base infeed::preprocess
  PRIVATE infeed::tools)
infeed_program(make_demo_images
  SOURCES make_demo_images.cc
  LIBRARIES infeed::demo infeed::tools CLI11::CLI11)
