# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# For tests of evaluations elsewhere: an sshd and a Slurm of their own on the loopback, as the user who runs the tests, with keys,
# configuration, sockets and logs below $T. Nothing of the system's configuration is read or changed.

# The system's own programs are where a user's PATH may not lead.
PATH=$PATH:/usr/sbin:/sbin
daemons=

# free_port: one that nobody listens on.
free_port() {
	perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1")->sockport'
}

# wait_for COMMAND...: until it succeeds, 10 seconds at most.
wait_for() {
	tries=100
	until "$@" >/dev/null 2>&1; do
		[ $((tries -= 1)) -gt 0 ] || return 1
		sleep 0.1
	done
}

# start_sshd: an ssh in $T/bin that reaches it under the name "far".
start_sshd() {
	mkdir -p "$T/sshd" "$T/bin"
	# Root's sshd locks a part of itself into this folder, which is there wherever the system's own runs.
	[ "$(id -u)" -ne 0 ] || [ -d /run/sshd ] || { mkdir -m 755 /run/sshd && own_run_sshd=1; }
	ssh-keygen -q -t ed25519 -N '' -f "$T/sshd/host"
	ssh-keygen -q -t ed25519 -N '' -f "$T/sshd/user"
	cp "$T/sshd/user.pub" "$T/sshd/authorized"
	port=$(free_port)
	cat >"$T/sshd/server" <<E
Port $port
ListenAddress 127.0.0.1
HostKey $T/sshd/host
PidFile $T/sshd/pid
AuthorizedKeysFile $T/sshd/authorized
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
AcceptEnv *
SetEnv FAR=$T XDG_CACHE_HOME=$T/there TMPDIR=$T/tmp KILN_DATA=$KILN_DATA KILN_LOCK_DIR=$T PATH=$KILN_BUILD:/usr/bin:/bin
E
	cat >"$T/sshd/client" <<E
Host far
	HostName 127.0.0.1
	Port $port
	User $(id -un)
	IdentityFile $T/sshd/user
	IdentitiesOnly yes
	UserKnownHostsFile $T/sshd/known
	StrictHostKeyChecking accept-new
	SendEnv *
E
	printf '#!/bin/sh\nexec %s -F "%s/sshd/client" "$@"\n' "$(command -v ssh)" "$T" >"$T/bin/ssh"
	chmod +x "$T/bin/ssh"
	"$(command -v sshd)" -f "$T/sshd/server" -E "$T/sshd/log" </dev/null >/dev/null 2>&1
	wait_for test -s "$T/sshd/pid"
	daemons="$daemons $(cat "$T/sshd/pid")"
}

# start_slurm: SLURM_CONF is set; one node with the processors of this machine, and what it takes for a GPU.
start_slurm() {
	mkdir -p "$T/slurm/state" "$T/slurm/spool"
	SLURM_CONF=$T/slurm/slurm.conf
	export SLURM_CONF
	dd if=/dev/urandom of="$T/slurm/munge.key" bs=128 count=1 2>/dev/null
	chmod 400 "$T/slurm/munge.key"
	munged --force --key-file="$T/slurm/munge.key" --socket="$T/slurm/munge.socket" --pid-file="$T/slurm/munge.pid" \
		--log-file="$T/slurm/munge.log" --seed-file="$T/slurm/munge.seed" </dev/null >"$T/slurm/munge.err" 2>&1
	cat >"$SLURM_CONF" <<E
ClusterName=kiln
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$T/slurm/munge.socket
CredType=cred/munge
StateSaveLocation=$T/slurm/state
SlurmdSpoolDir=$T/slurm/spool
SlurmctldPidFile=$T/slurm/slurmctld.pid
SlurmdPidFile=$T/slurm/slurmd.pid
SlurmctldLogFile=$T/slurm/slurmctld.log
SlurmdLogFile=$T/slurm/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
SwitchType=switch/none
JobCompType=jobcomp/none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SchedulerParameters=sched_interval=1,batch_sched_delay=0
ReturnToService=2
KillWait=3
GresTypes=gpu
NodeName=$(hostname -s) NodeAddr=127.0.0.1 CPUs=$(nproc) Gres=gpu:1 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=10 State=UP
E
	echo 'Name=gpu File=/dev/null' >"$T/slurm/gres.conf"
	slurmctld </dev/null >/dev/null 2>&1
	slurmd </dev/null >/dev/null 2>&1
	wait_for test -s "$T/slurm/slurmctld.pid"
	wait_for test -s "$T/slurm/slurmd.pid"
	daemons="$daemons $(cat "$T/slurm/slurmd.pid") $(cat "$T/slurm/slurmctld.pid") $(cat "$T/slurm/munge.pid")"
	wait_for sh -c 'sinfo -h -o %t | grep -q idle'
}

# stop_daemons: those that were started here, and what of the system's we had to make.
stop_daemons() {
	[ ! -e "$T/bin/ssh" ] || "$T/bin/ssh" -o "ControlPath=$XDG_RUNTIME_DIR/kiln-ssh/%C" -O exit far 2>/dev/null || :
	for pid in $daemons; do
		kill "$pid" 2>/dev/null || continue
		wait_for sh -c "! kill -0 $pid || grep -q '^State:.Z' /proc/$pid/status" || kill -9 "$pid"
	done
	[ -z "${own_run_sshd-}" ] || pgrep -x -r S,R sshd >/dev/null || rmdir /run/sshd
	daemons=
}
