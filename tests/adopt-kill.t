#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A few random kills of an adoption; `make adopt-kill` does a hundred.
exec sh "${0%/*}/adopt-kill.sh" 10
