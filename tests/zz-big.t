. "${0%/*}/lib.sh"
. "$tests_dir/remote/lib.sh"
start_sshd; start_slurm
small_campaign c ''
cd c; keval --reference -o trials.x 2>&1
{ cat reference.c; echo '/*'; head -c 5000000 /dev/urandom | base64 ; echo '*/'; } >"big file.c"; ls -la big*
for w in "env FAR=1" "ssh far" "srun" "srun --export=ALL"; do
 echo "== $w"; ( time kremote $w -- keval --code "big file.c" -o out.ndjson ) 2>&1 | grep real; jq -r '.eval.status, (.eval.code|length)' out.ndjson | xargs; rm -f out.ndjson
done
( time keval --code "big file.c" -o out.ndjson ) 2>&1 | grep real
echo == salloc; time salloc -n2 -Q sh -c 'for i in 1 2; do srun --quiet -n1 --exact sleep 2 & done; wait'
time salloc -n2 -Q sh -c 'for i in 1 2; do srun --quiet -n1 sleep 2 & done; wait'
time salloc -n2 -Q sh -c 'kremote srun --exact -- keval --preflight'
