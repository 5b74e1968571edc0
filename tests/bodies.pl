#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# bodies FILE.t: the scripts that `ok NAME '...'` has in quotes, each as a function at its own lines, for shellcheck.
use strict;
use warnings;

undef $/;
my $text = <>;
my $name = qr/'(?:[^'\n]|'\\'')*'|"(?:[^"\\\n]|\\.)*"/;
my $n = 0;
while ($text =~ /\G(.*?)^[ \t]*(?:ok|t)[ \t]+$name[ \t]+'((?:[^']|'\\''|'"[^"]*"')*)'\n/gsm) {
	my ($before, $body) = ($1, $2);
	$before =~ s/[^\n]//g;
	$body =~ s/'\\''/'/g;
	$body =~ s/'"([^"]*)"'/$1/g;
	printf "%sbody_%d() { %s\n};", $before, ++$n, $body;
}
print "\n";
