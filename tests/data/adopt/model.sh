#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# model.sh FILE: a model that always gives this program, with a plan.
cat >/dev/null
cat <<'E'
```plan
{"hypothesis": "it should be faster because weights are made once", "change": "a table", "category": "tiling", "bucket": "K1"}
```
```c
E
cat "$1"
echo '```'
