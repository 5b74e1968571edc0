#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A few random kills; `make kill` does two hundred.
exec sh "${0%/*}/kill.sh" 20
