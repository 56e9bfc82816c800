# Trainings of two ranks on two nodes. Sourced by tests/slurm/cluster.

# submit_training NAME STEPS [sbatch's flags]; sets $job
submit_training() {
  local name="$1" steps="$2"
  shift 2
  rm -rf "$work/$name"*
  # The nodes' names are no hosts' here, so somebody must say where rank 0 is; and
  # ranks on two nodes refuse a loopback address.
  job="$(MASTER_ADDR="$(hostname -I | cut -d ' ' -f 1)" OMP_NUM_THREADS=1 \
    sbatch --parsable "$@" --output="$work/$name.log" examples/slurm/train.sbatch \
    --mode train --device cpu --data_dir "$work/alone" \
    --model_dir "$work/$name" --params_override \
    "model=lenet,image_size=28,recipe=plain,train_batch_size=16,precision=float32,iterations_per_loop=10,log_step_count_steps=1,train_steps=$steps")"
}

# What metrics.jsonl says: of_log NAME EXPRESSION, where log is what was read
of_log() {
  python3 -B - "$work/$1" "$2" <<'PYTHON'
import pathlib, sys
sys.path.insert(0, "tests/cluster")
from training import Log
log = Log.read(pathlib.Path(sys.argv[1]), 16)
print(eval(sys.argv[2]))
PYTHON
}

# As many steps as take some 40 seconds, so that there is a middle.
steps_for_a_while() {
  submit_training speed 200 --time=10 >&2
  wait_for_job 120 "$job" >&2
  of_log speed "max(200, int(40 / log.seconds_per_step) // 10 * 10)"
}

test_training() {
  local steps last
  make_images
  convert_alone
  steps="$(steps_for_a_while)"
  submit_training straight "$steps" --time=30
  wait_for_job 600 "$job"
  expect "state of $steps steps in one go" "$(job_field "$job" JobState)" COMPLETED
  expect "its ranks" "$(grep -ho 'rank 0 of [0-9]*' "$work/straight.log" | head -n 1)" \
    "rank 0 of 2"
  # Slurm looks at its clock every half minute.
  submit_training stopped "$steps" --time=1 --signal=USR1@50
  wait_for 300 "the first stop" has_restarted "$job"
  # Once is enough; a minute's job is stopped again and again.
  scontrol update JobId="$job" TimeLimit=30
  wait_for_job 600 "$job"
  grep -h "put back" "$work/stopped.log"
  expect "state of $steps steps with stops" "$(job_field "$job" JobState)" COMPLETED
  has_restarted "$job" || fail "the training was never stopped"
  expect "steps with a loss" "$(of_log stopped "len(log.losses)")" "$steps"
  expect "losses" "$(of_log stopped "log.losses == \
Log.read(pathlib.Path('$work/straight'), 16).losses and 'the same'")" "the same"
  last="$(cd "$work/straight" && find . -name model.safetensors | sort | tail -n 1)"
  cmp "$work/straight/$last" "$work/stopped/$last" ||
    fail "$last differs from that of the training in one go"
  echo "  the same bytes in $last"
}
