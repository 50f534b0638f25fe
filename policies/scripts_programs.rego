package bailiff

# METADATA
# title: Programs that small languages start
# description: |
#   Programs of awk, and commands of editors and pagers, name programs that no option
#   shows.
_examined.editors contains _found("inline", _spelt(call)) if {
	some call in _calls_of.editors
	some word in call.argv
	regex.match(`^(\+:?|:)?\s*!|^(\+:?|:)\s*(py|lua|perl|ruby|tcl|call system)`, word)
}

_examined.awks contains _found("inline", _spelt(call)) if {
	some call in _calls_of.awks
	some word in call.argv
	regex.match(`\(\s*"[^"]*"\s*\)\s*\|&?\s*getline`, word)
}

# A program that packs or unpacks what tar gives it, unless it is one that does no more.
_examined.packs contains _found("inline", _spelt(call)) if {
	some call in _calls_of.packs
	some program in _compressors(call)
	not data.bailiff.tables.compressors[split(program, " ")[0]]
}

_compressors(call) := {program |
	some position, option in call.argv
	regex.match(`^(-[A-Za-z]*I|--use-c[a-z-]*)$`, option)
	call.program in {"tar", "gtar"}
	program := call.argv[position + 1]
} | {program |
	some word in call.argv
	some pattern in [`^--use-c[a-z-]*=(.*)$`, `^-I(.+)$`]
	call.program in {"tar", "gtar"}
	program := regex.find_all_string_submatch_n(pattern, word, 1)[0][1]
}

# Settings that wget takes as an option, of those that name programs, files or proxies.
_examined.uploads contains _found("inline", _spelt(call)) if {
	some call in _calls_of.uploads
	call.program == "wget"
	some word in call.argv
	setting := regex.find_all_string_submatch_n(`(?i)^(?:-e|--exec[a-z]*=)?\s*([a-z_]+)\s*=`, word, 1)[0][1]
	regex.match(
		concat("|", [
			`(?i)^(use_?askpass|[a-z]*_?proxy|(post|body)_?(file|data)|(save|load)_?cookies)$`,
			`(?i)^(output_?document|dir_?prefix|input|logfile|config)$`,
		]),
		setting,
	)
}

# The pager's own commands are given after "+".
_examined.pagers contains _found("inline", _spelt(call)) if {
	some call in _calls_of.pagers
	some word in call.argv
	regex.match(`^\+{1,2}\s*[!|]`, word)
}
