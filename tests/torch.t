#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tools/kernelbench.py: a PyTorch module as the reference, judged and timed by its own commands. If torch is not
# installed, a stand-in with only what these programs call is put next to the commands.
# shellcheck disable=SC2016
. "${0%/*}/lib.sh"
unset ANTHROPIC_API_KEY OPENAI_API_KEY
KILN_LOCK_DIR=$T
export KILN_LOCK_DIR
chmod 755 "$T"

cat >19_Scaled.py <<'E2'
import torch
import torch.nn as nn


class Model(nn.Module):
    """Scale by a drawn weight, then ReLU."""

    def __init__(self, n):
        super().__init__()
        self.weight = torch.randn(n)

    def forward(self, x):
        y = torch.relu(x * 2.0 + self.weight)
        for _ in range(300):
            y = torch.relu(y)
        return y


def get_inputs():
    return [torch.randn(64)]


def get_init_inputs():
    return [64]
E2
# forward BODY: a candidate with this method.
cat >forward.sh <<'E2'
forward() {
	sed -e 's/class Model(/class ModelNew(/' -e '/y = torch.relu(x/,$d' 19_Scaled.py
	printf '        %s\n' "$@"
}
judged() {
	forward "$@" >c.py
	keval -c made --code c.py -o e
	jq -r ".eval.log // empty" e >&2
	jq -r .eval.status e
}
E2
stub=
python3 -c 'import torch' 2>/dev/null || stub=$tests_dir/mock
export stub
if ! command -v python3 >/dev/null; then
	skip 'a PyTorch module' 'python3 is not installed'
	done_testing
fi
ok 'a module becomes a campaign, whose reference is evaluated' '
	PYTHONPATH=$stub python3 "$KILN_DATA/tools/kernelbench.py" new 19_Scaled.py made
	jq -e ".name == \"19_scaled\" and .inputs == {x0: {shape: [64], dtype: \"float32\"}} and .outputs.y0.shape == [64] and (.description | startswith(\"Scale by a drawn weight, then ReLU. Write\"))" made/task.json
	# The commands find the stand-in for torch in the folder that they run in.
	[ -z "$stub" ] || { cp "$stub/torch/__init__.py" made/torch.py; edit made/campaign.json ".eval.correctness.files += [\"torch.py\"] | .eval.timing.files += [\"torch.py\"]"; }
	edit made/campaign.json ".model = {provider: \"null\"}"; kcampaign check -c made 2>err || { cat err; exit 1; }
	keval -c made --reference -o e; jq -e ".eval | .status == \"correct\" and (.timing | length) == 1 and .timing[0].workload == \"problem\"" e
	mkdir -p made/trials/000/00; cp e made/trials/000/00/eval.ndjson'
ok 'a candidate is checked against the module and timed in turns with it' '
	. ./forward.sh
	is correct "$(judged "return torch.relu(x * 2.0 + self.weight)")"
	jq -e ".eval.anchor == \"reference\" and (.eval.pairs | length == 1 and .[0].low > 1)" e
	is wrong_value "$(judged "return torch.relu(x * 2.001 + self.weight)")"; jq -e ".eval.log | test(\"inputs of seed [0-9]+: result 0 differs by more than 0.0001\")" e
	is wrong_value "$(judged "return [torch.relu(x * 2.0 + self.weight)] * 2")"; jq -e ".eval.log | test(\"2 results, but the reference has 1\")" e
	is run_error "$(judged "return torch.gelu(x, self.weight)")"; jq -e ".eval.log | contains(\"gelu\")" e
	is compile_error "$(judged "return torch.relu(")"'
ok 'usage' '
	PYTHONPATH=$stub exits 1 python3 "$KILN_DATA/tools/kernelbench.py" nonsense; grep -q "kernelbench.py new PROBLEM.py FOLDER" err'
done_testing
