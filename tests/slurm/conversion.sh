# A job array of the converter. Sourced by tests/slurm/cluster.

readonly tasks=4

# Shards are many and small, so that there is a middle to be disturbed in.
conversion_flags() {
  echo --raw_data_dir "$work/images" --local_scratch_dir "$1" --shards 150
}

make_images() {
  [[ -d "$work/images" ]] ||
    make_demo_images --output "$work/images" --train 3000 --validation 500
}

convert_alone() {
  [[ -f "$work/alone/dataset.json" ]] ||
    imagenet_to_records $(conversion_flags "$work/alone") >/dev/null 2>&1
}

# Submits the array, and what ends it; sets $array and $finish.
submit_conversion() {
  local out="$1" flags
  read -ra flags <<<"$(conversion_flags "$out")"
  array="$(sbatch --parsable --array="0-$((tasks - 1))" \
    --output="$out-%a.log" examples/slurm/convert.sbatch "${flags[@]}")"
  finish="$(sbatch --parsable --dependency=afterok:"$array" \
    --output="$out-finish.log" examples/slurm/convert.sbatch \
    --finish --num_tasks "$tasks" "${flags[@]}")"
}

# What readers see: the same bytes as of one process, and every record sound.
check_conversion() {
  local out="$1"
  expect "state of --finish" "$(job_field "$finish" JobState)" COMPLETED
  diff -r --exclude=.infeed "$work/alone" "$out" ||
    fail "$out differs from the conversion in one process"
  echo "  the same $(find "$out" -maxdepth 1 -type f | wc -l) files as of one process"
  records verify "$out" | tail -n 1
}

test_killed_task() {
  local out="$work/killed" id
  rm -rf "$out"*
  make_images
  convert_alone
  submit_conversion "$out"
  wait_for 60 "a shard of task 2" test -f "$out/train-00002-of-00150"
  id="$(job_field "${array}_2" JobId)"
  kill -9 "$(program_of "$id" imagenet_to_records)" ||
    fail "task 2 was too fast to be killed"
  echo "  task 2 killed in the middle"
  wait_for_job 120 "$finish"
  expect "restarts of task 2" "$(job_field "$id" Restarts)" 1
  grep -h "put back" "$out-2.log"
  check_conversion "$out"
}

# Everything of a node ends at once: its daemon, its tasks, and who watches
# them, which are the tasks' parents.
lose_node() {
  local node="$1" doomed
  mapfile -t doomed < <(grep -slxz "SLURMD_NODENAME=$node" /proc/[0-9]*/environ |
    tr -dc '0-9\n')
  mapfile -t -O "${#doomed[@]}" doomed < <(ps -o ppid= -p "${doomed[*]}" | tr -d " " |
    grep -vx 1)
  kill -9 "$(<"$state/$node.pid")" "${doomed[@]}" 2>/dev/null || true
}

test_lost_node() {
  local out="$work/lost" task moved=0
  rm -rf "$out"*
  make_images
  convert_alone
  submit_conversion "$out"
  wait_for 60 "a shard of task 3" test -f "$out/train-00003-of-00150"
  expect "node of task 3" "$(job_field "${array}_3" NodeList)" node2
  lose_node node2
  echo "  node2 lost in the middle"
  wait_for_job 300 "$finish"
  for task in $(seq 0 $((tasks - 1))); do
    moved=$((moved + $(job_field "${array}_$task" Restarts)))
  done
  expect "node of task 3" "$(job_field "${array}_3" NodeList)" node1
  expect "tasks that Slurm put back" "$moved" 2
  check_conversion "$out"
  start_node node2
  wait_for 60 "node2 again" are_idle
}
