# Jobs as tests see them. Sourced by tests/slurm/cluster.

# What Slurm says of a job: job_field 12_3 JobState
job_field() {
  scontrol --oneliner show job "$1" 2>/dev/null | tr ' ' '\n' |
    sed -n "s/^$2=//p" | head -n 1
}

is_over() {
  [[ "$(job_field "$1" JobState)" =~ ^(COMPLETED|FAILED|TIMEOUT|CANCELLED|NODE_FAIL)$ ]]
}

has_restarted() { (("$(job_field "$1" Restarts)" > 0)); }

# Waits for a job's end: wait_for_job SECONDS JOB
wait_for_job() { wait_for "$1" "end of job $2" is_over "$2"; }

# The pid of a job's program on this machine: program_of JOB PROGRAM
program_of() {
  local pid
  for pid in $(pgrep -f "^([^ ]*/)?$2 "); do
    if grep -qxz "SLURM_JOB_ID=$1" "/proc/$pid/environ" 2>/dev/null; then
      echo "$pid"
      return
    fi
  done
  return 1
}

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

expect() {
  local what="$1" got="$2" wanted="$3"
  [[ "$got" == "$wanted" ]] || fail "$what: '$got', not '$wanted'"
  echo "  $what: $got"
}
