#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Evaluations over ssh: a private sshd on the loopback interface.
. "${0%/*}/lib.sh"
. "$tests_dir/remote/lib.sh"

if ! command -v sshd >/dev/null || ! command -v ssh-keygen >/dev/null; then
	skip 'ssh' 'openssh-server is not installed'
	done_testing
fi
case $(getent passwd "$(id -un)") in *nologin | *false)
	skip 'ssh' "$(id -un) has no shell to log in with"
	done_testing
esac
start_sshd
here_and far
launch far 'kremote ssh far --'
busy gone 'kremote ssh far --'

ok 'the same campaign, four branches at once, over one connection' '
	cd far
	make -j4 trials N=2 >out
	grep -q "^$(uname -n): kiln .*sandbox" out
	(cd ..; . "$tests_dir/remote/campaign.sh"; same_campaign "here it is" far)
	test ! -e trials/000/build
	is build "$(ls "$T"/there/kiln/remote/far-*)"
	is 1 "$(grep -c "Accepted publickey" "$T/sshd/log")"
	is 700 "$(stat -c %a "$T/run/kiln-ssh")"'

ok 'a shipped campaign with its oracle, a task in another folder, own commands, an adopted campaign' '
	. "$tests_dir/remote/campaign.sh"
	mkdir kinds; cd kinds; kinds; adopted
	kinds_by kremote ssh far --
	test ! -e softmax_linear/trials; test ! -e adopted/trials/000/00'

ok 'keys stay here, whatever ssh is told to send' '
	ssh -o ControlPath=none far env >out; grep -q "^LC_ALL" out
	TEST_API_KEY=a-secret ssh -o ControlPath=none far env >out; grep -q a-secret out
	cd far
	jq ".eval.timing = {format: \"json\", command: \"env >$T/env-there; false\", sandbox: false}" campaign.json >new
	mkdir leak; mv new leak/campaign.json; cp task.json reference.c leak
	cd leak; TEST_API_KEY=a-secret kremote --plain ssh -o ControlPath=none far -- keval --code reference.c >out
	grep -q KILN_LOCK_DIR "$T/env-there"
	not grep -q a-secret "$T/env-there"'

ok 'a missing host is tried again, one without kiln is not' '
	cd far
	exits 75 kremote ssh -p 1 far -- keval --preflight; grep -q "cannot reach the other machine: ssh exited with status 255" err
	exits 3 kremote --there /nowhere ssh far -- keval --preflight; grep -q "give its folder with --there" err
	ln -s "$KILN_BUILD" "$T/programs"
	exits 0 kremote --there "$T/programs" ssh far -- keval --preflight'

ok 'an interruption ends what runs there' '
	interrupt INT gone
	interrupt KILL gone'

ok 'a connection that breaks in the middle asks to try again, and ends what runs there' '
	cd gone; (kremote ssh far -- keval -o none trials/001/01/reply.ndjson 2>err || echo $? >status) &
	await runner || { cat err; exit 1; }
	ssh -o ControlPath="$T/run/kiln-ssh/%C" -O exit far
	wait
	cat err; is 75 "$(cat status)"
	grep -q "$(uname -n): the connection ended before the answer" err
	test ! -e none
	await nobody'

done_testing
