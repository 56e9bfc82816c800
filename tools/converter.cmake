infeed_library(converter
  SOURCES data_split.cc folder_listing.cc image_tree.cc label_files.cc
          python_shuffle.cc shard_plan.cc
  HEADERS data_split.h folder_listing.h image_tree.h label_files.h
          python_shuffle.h shard_plan.h
  PUBLIC infeed::base)
