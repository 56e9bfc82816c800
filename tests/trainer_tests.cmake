# Without LibTorch, and not entering oneTBB.
infeed_test(trainer_host_test
  SOURCES
    bad_records_of_ranks_test.cc
    epoch_lines_test.cc
    fake_data_test.cc
    flat_chunks_test.cc
    image_size_schedule_test.cc
    infeed_test.cc
    lr_schedule_test.cc
    mix_plan_test.cc
    outfeed_test.cc
    rank_meeting_test.cc
    rank_parts_test.cc
    rank_star_test.cc
    result_ring_test.cc
    schedule_advice_test.cc
    step_watch_test.cc
    upload_ring_test.cc
  LIBRARIES infeed::trainer_host nlohmann_json::nlohmann_json
  LABELS core)
add_dependencies(core_tests trainer_host_test)
add_dependencies(tsan_tests trainer_host_test)

# Infeed and input on a real pipeline: enters oneTBB.
infeed_test(infeed_pipeline_test
  SOURCES
    infeed_pipeline_test.cc
    resident_order_test.cc
    sized_input_test.cc
    window_images_test.cc
  LIBRARIES infeed::trainer_host pipeline_test_support
  LABELS tbb)
add_dependencies(core_tests infeed_pipeline_test)

infeed_test(trainer_test
  SOURCES
    convolution_test.cc
    cuda_math_test.cc
    device_ceilings_test.cc
    device_loop_batch_test.cc
    device_loop_eval_test.cc
    device_loop_mix_test.cc
    device_loop_networks_test.cc
    device_loop_test.cc
    device_loop_train_test.cc
    flat_weights_test.cc
    fused_norm_test.cc
    loss_test.cc
    network_drop_test.cc
    network_init_test.cc
    network_test.cc
    optimizer_test.cc
    precision_trial_test.cc
    resnet_test.cc
    torch_errors_test.cc
  LIBRARIES infeed::trainer torch nlohmann_json::nlohmann_json
  LABELS trainer)

# Several ranks, each a thread, over Gloo.
if(NOT INFEED_CUDA)
  infeed_test(ranks_trainer_test
    SOURCES
      batch_norm_test.cc
      device_group_test.cc
      device_loop_ranks_test.cc
      gradient_buckets_test.cc
      torchrun_store_test.cc
    LIBRARIES infeed::trainer torch nlohmann_json::nlohmann_json
    LABELS trainer)
endif()

infeed_test(train_resnet_test
  SOURCES
    support/running_program.cc
    train_labels_test.cc
    train_resnet_test.cc
  LIBRARIES pipeline_test_support nlohmann_json::nlohmann_json
  LABELS end_to_end)
add_dependencies(train_resnet_test train_resnet)

# Whole ways: raw files, the converter, a training.
infeed_test(train_programs_test
  SOURCES
    train_programs_test.cc
  LIBRARIES infeed::preprocess infeed::records nlohmann_json::nlohmann_json
  LABELS end_to_end)
add_dependencies(train_programs_test imagenet_to_records train_resnet)

# What other programs make of exported models: OpenCV, beside LibTorch.
infeed_test(export_test
  SOURCES
    exported_model_test.cc
    exporter_test.cc
  LIBRARIES infeed::trainer torch opencv_dnn
  LABELS trainer)

infeed_test(wait_policy_test
  SOURCES
    wait_policy_test.cc
  LIBRARIES infeed::base
  LABELS end_to_end)
add_dependencies(wait_policy_test train_resnet)

# The command line, without LibTorch.
infeed_test(train_flags_test
  SOURCES
    local_ranks_test.cc
    train_flags_test.cc
  LIBRARIES infeed::train_flags
  LABELS core)
add_dependencies(core_tests train_flags_test)

infeed_test(completion_test
  SOURCES completion_test.cc
  LIBRARIES infeed::train_flags
  LABELS end_to_end)
add_dependencies(completion_test records imagenet_to_records make_demo_images)

infeed_test(checkpoint_kill_test
  SOURCES
    checkpoint_kill_test.cc
    support/running_program.cc
  LIBRARIES infeed::trainer_state pipeline_test_support
  LABELS end_to_end)
add_dependencies(checkpoint_kill_test train_resnet)

infeed_test(train_resnet_modes_test
  SOURCES
    best_mode_test.cc
    eval_mode_test.cc
    export_mode_test.cc
    predict_mode_test.cc
    support/running_program.cc
  LIBRARIES infeed::trainer_state pipeline_test_support
            nlohmann_json::nlohmann_json
  LABELS end_to_end)
add_dependencies(train_resnet_modes_test train_resnet)

# Several processes that train together, started and ended in every way.
infeed_test(ranks_test
  SOURCES
    rank_strangers_test.cc
    ranks_test.cc
    support/running_program.cc
  LIBRARIES infeed::trainer_state pipeline_test_support
            nlohmann_json::nlohmann_json
  LABELS end_to_end)
add_dependencies(ranks_test train_resnet)
