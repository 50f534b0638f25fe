package bailiff

# METADATA
# title: Methods of services on a bus
# description: |
#   Clients of a bus call methods of services that run with other rights: the session's windows, the machine's power, its units. A
#   method that only looks says so by its name. Any other is asked about.
_examined.buses contains _found("services", _spelt(call)) if {
	some call in _calls_of.buses
	some method in _bus_methods(call)
	not regex.match(_looking_method, method)
	not _asks_for_help(call)
}

_examined.buses contains _found("power", _spelt(call)) if {
	some call in _calls_of.buses
	some method in _bus_methods(call)
	regex.match(`(^|\.)(PowerOff|Reboot|Halt|KExec|SoftReboot|Suspend|Hibernate|HybridSleep|SuspendThenHibernate)(WithFlags)?$`, method)
}

_looking_method := concat("", [
	`(^|\.)(Get|List|Introspect|Ping|Can|Is|Has|Name|Query|Find|Search|Describe|Dump|Peek|Read|Show|Status)[A-Z]?\w*$`,
	`|\.(Notify|CloseNotification)$`,
])

# Where a client has the name of the method: behind an option, or behind the path of an object.
_bus_methods(call) := ({method |
	some position, word in call.argv
	word in {"-m", "--method"}
	method := call.argv[position + 1]
} | {method |
	some word in call.argv
	startswith(word, "--method=")
	method := trim_prefix(word, "--method=")
}) | {method |
	some position, word in call.argv
	startswith(word, "/")
	following := call.argv[position + 1]
	regex.match(`^[A-Za-z_][\w-]*(\.[\w.]+\w)?$`, following)
	method := concat("", [".", following])
}
