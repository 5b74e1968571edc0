# The text of a prompt without what is fenced, read as Markdown reads code fences; marks of data lose their tags.
function fence(line) {
	sub(/^ ? ? ?/, "", line)
	return match(line, /^```+/) ? RLENGTH : 0
}
function rest(line) {
	sub(/^ *`+/, "", line)
	return line
}
mode == "code" {
	if (fence($0) >= ticks && rest($0) ~ /^[ \t]*$/)
		mode = ""
	next
}
mode == "data" {
	if ($0 == "----- end " what " " tag " -----")
		mode = ""
	next
}
fence($0) && rest($0) !~ /`/ {
	mode = "code"
	ticks = fence($0)
	print "[code " rest($0) "]"
	next
}
/^----- begin .* [0-9a-f]+ -----$/ {
	mode = "data"
	tag = $(NF - 1)
	what = $0
	sub(/^----- begin /, "", what)
	sub(" " tag " -----$", "", what)
	print "[data " what "]"
	next
}
{ print }
END { if (mode != "") print "[not closed]" }
