# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Shared by tests of evaluations elsewhere: places, a campaign to compare with, and the end of what runs there.
# shellcheck source=tests/remote/daemons.sh disable=SC2154
. "$tests_dir/remote/daemons.sh"
# shellcheck source=tests/remote/campaign.sh
. "$tests_dir/remote/campaign.sh"

# The other side is this machine too: what it keeps is below $T/there, and FAR is in the environment of what runs there.
HOME=$T KILN_LOCK_DIR=$T XDG_RUNTIME_DIR=$T/run TMPDIR=$T/tmp
export HOME KILN_LOCK_DIR XDG_RUNTIME_DIR TMPDIR
mkdir -m 700 run
# Root's candidates run as nobody, who has to get to their work folders.
chmod 711 .
mkdir -m 1777 tmp
mkdir bin
PATH=$T/bin:$PATH
trap 'stop_daemons; chmod -R u+rwX "$T"; rm -rf "$T"' EXIT

# launch FOLDER LAUNCHER: evaluations of the campaign go there.
launch() {
	jq --arg launcher "$2" '.eval.launcher = $launcher' "$1/campaign.json" >"$1/new" && mv "$1/new" "$1/campaign.json"
}

# here_and FOLDER...: a campaign in the folder "here it is", made here; before that, copies of it.
here_and() {
	small_campaign 'here it is' ''
	for copy; do
		cp -r 'here it is' "$copy"
	done
	make -s -C 'here it is' -j2 trials N=2 >here.log 2>&1 || cat here.log >&2
}

# busy FOLDER LAUNCHER: a campaign whose only candidate never ends.
busy() {
	small_campaign "$1" "$2"
	(
		cd "$1" || exit
		jq '.search.branches = 1' campaign.json >new && mv new campaign.json
		reply 001/01 9 '1d; s/^{/{\n\tfor (volatile int i = 0; i < 1; i = 0);/'
	)
}

# strangers [NAME]: processes on the other side, of that name: by their environment, or by the work folder that is mounted there.
cat >bin/strangers <<'E'
#!/usr/bin/perl
my $work = "$ENV{T}/tmp/kiln-work";
(my $below = $work) =~ s:^/tmp::;
sub text { open my $f, '<', $_[0] or return ''; local $/; <$f> // '' }
for my $p (glob '/proc/[0-9]*') {
	my $command = text("$p/cmdline");
	next if $p eq "/proc/$$" || $command =~ /^ssh/ || @ARGV && text("$p/comm") !~ /^\Q$ARGV[0]/;
	print "$p $command\n" if ("\0" . text("$p/environ")) =~ /\0FAR=\Q$ENV{T}\E\0/ || text("$p/mountinfo") =~ / (\Q$work\E|\Q$below\E)/;
}
E
# await runner | nobody: until a candidate runs there (in a campaign's folder; the reference is no candidate), or nothing does.
cat >bin/await <<'E'
#!/bin/sh
tries=300
until case $1 in runner) [ -e trials/001/01/reply.ndjson ] && strangers runner | grep -q . ;; *) ! strangers | grep -q . ;; esac do
	[ $((tries -= 1)) -gt 0 ] || { strangers; exit 1; }
	sleep 0.1
done
E
# interrupt SIGNAL FOLDER: a run of the campaign there is ended by the signal while its candidate runs, and so is everything.
cat >bin/interrupt <<'E'
#!/bin/sh
cd "$2" || exit 1
kcampaign run -n 1 >out 2>err & pid=$!
await runner || { cat out err; exit 1; }
kill -s "$1" "$pid"
wait "$pid"
status=$?
await nobody && [ ! -e trials/001/01/eval.ndjson ] && [ "$status" -gt 128 ] && ! ls "$T"/there/kiln/remote/*/ | grep -q run-
E
chmod +x bin/*
