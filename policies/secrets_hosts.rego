package bailiff

# METADATA
# title: The metadata service of a cloud
# description: |
#   It gives credentials to every program that asks.
_examined.hosts contains _found("metadata", host) if {
	some host in _hosts
	data.bailiff.tables.hosts.metadata[host]
}

_examined.hosts contains _found("metadata", host) if {
	some host in _hosts
	regex.match(`^169\.254\.|169[.-]254[.-]169[.-]254`, host)
}

# An option of curl that leads a harmless name there.
_examined.sends contains _found("metadata", _spelt(call)) if {
	some call in _calls_of.sends
	some position, option in call.argv
	option in {"--resolve", "--connect-to"}
	regex.match(`169\.254\.|fd00:ec2|100\.100\.100\.200`, call.argv[position + 1])
}

# METADATA
# title: Copies to another host
# description: |
#   Some programs take host:path as an operand.
_examined.copies_over contains _found("sends_files", _spelt(call)) if {
	some call in _calls_of.copies_over
	target := call.operands[count(call.operands) - 1]
	regex.match(`^[^/]+:`, target)
}

_examined.copies_over contains _found("another_host", _spelt(call)) if {
	some call in _calls_of.copies_over
	some operand in call.operands
	regex.match(`^[^/]+:`, operand)
}
