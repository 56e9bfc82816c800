# A Slurm cluster on this machine: one controller and two nodes, which are
# slurmd twice, with ports and folders of their own. No systemd, no cgroups, no
# accounting. All that it keeps lies in $state, and all that runs is in
# $state/*.pid. Sourced by tests/slurm/cluster.

readonly state="$PWD/build/slurm"
readonly nodes=(node1 node2)
readonly first_port=17110  # the controller's; the nodes' follow

export SLURM_CONF="$state/slurm.conf"
# Debian has the daemons here, which users' paths leave out.
export PATH="$PATH:/usr/sbin:/sbin"

install_slurm() {
  local missing=() package
  for package in munge slurm-wlm; do
    [[ "$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null)" == *\ installed ]] ||
      missing+=("$package")
  done
  [[ ${#missing[@]} -eq 0 ]] && return
  echo "slurm: installing ${missing[*]}" >&2
  local as_root=()
  [[ $EUID -eq 0 ]] || as_root=(sudo)
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# cred_expire: a job that is put back waits for as long before it starts again,
# two minutes by default. SlurmdTimeout: after this silence a node is down.
write_configuration() {
  local i host
  host="$(hostname -s)"
  cat <<TEXT
ClusterName=infeed
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$first_port
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$state/munge/socket,cred_expire=5
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
JobRequeue=1
KillWait=5
SlurmdTimeout=20
SlurmdParameters=config_overrides
ReturnToService=2
SwitchType=switch/none
StateSaveLocation=$state/controller
SlurmctldPidFile=$state/slurmctld.pid
SlurmctldLogFile=$state/slurmctld.log
SlurmdSpoolDir=$state/%n
SlurmdPidFile=$state/%n.pid
SlurmdLogFile=$state/%n.log
TEXT
  for i in "${!nodes[@]}"; do
    echo "NodeName=${nodes[i]} NodeHostname=$host NodeAddr=127.0.0.1" \
      "Port=$((first_port + 1 + i)) CPUs=2 RealMemory=1000"
  done
  echo "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP"
}

start_munge() {
  mkdir -p "$state/munge"
  chmod 700 "$state/munge"
  head -c 128 /dev/urandom >"$state/munge/key"
  chmod 400 "$state/munge/key"
  munged --force --socket="$state/munge/socket" --key-file="$state/munge/key" \
    --log-file="$state/munge/log" --pid-file="$state/munge.pid" \
    --seed-file="$state/munge/seed"
}

start_node() {
  mkdir -p "$state/$1"
  slurmd -N "$1"
}

are_idle() {
  [[ "$(sinfo --noheader --Node --format %T 2>/dev/null | sort -u)" == idle ]]
}

# Waits for a condition; says what was waited for where it never comes.
wait_for() {
  local seconds="$1" what="$2" end=$((SECONDS + $1))
  shift 2
  until "$@"; do
    ((SECONDS < end)) || { echo "slurm: $what: not in $seconds s" >&2; return 1; }
    sleep 0.1
  done
}

start_cluster() {
  install_slurm
  stop_cluster
  rm -rf "$state"
  mkdir -p "$state/controller"
  write_configuration >"$SLURM_CONF"
  start_munge
  slurmctld
  local node
  for node in "${nodes[@]}"; do
    start_node "$node"
  done
  wait_for 30 "two idle nodes (see $state/*.log)" are_idle
}

# Ends the process of a pid file, if it runs what is said.
end_daemon() {
  local file="$state/$1.pid" pid
  [[ -s "$file" ]] || return 0
  pid="$(<"$file")"
  if [[ "$(cat "/proc/$pid/comm" 2>/dev/null)" == "$2" ]]; then
    kill "$pid"
    wait_for 20 "end of $1" eval "[[ ! -d /proc/$pid ]]"
  fi
  rm -f "$file"
}

stop_cluster() {
  [[ -d "$state" ]] || return 0
  scancel --quiet --user "$(id -un)" 2>/dev/null || true
  local node
  for node in "${nodes[@]}"; do
    end_daemon "$node" slurmd
  done
  end_daemon slurmctld slurmctld
  end_daemon munge munged
}
