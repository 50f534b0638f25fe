package bailiff_test

_on_bus(program, words) := {finding.rule | some finding in found} if {
	found := data.bailiff._examined.buses with input as request("cli", [call(program, [], words)])
}

test_methods_that_change_something_are_found if {
	_on_bus("gdbus", ["call", "-d", "org.a.Shell", "-o", "/org/a/Shell", "-m", "org.a.Shell.Eval", "x"]) == {"command.stops_services"}
	_on_bus("gdbus", ["call", "--method=org.a.Manager.StopUnit"]) == {"command.stops_services"}
	_on_bus("qdbus", ["org.a.server", "/A", "logout", "0"]) == {"command.stops_services"}
	_on_bus("dbus-send", ["--dest=org.a", "/org/a", "org.a.Manager.PowerOff"]) == {"command.destroys_system", "command.stops_services"}
}

test_methods_that_look_are_ordinary if {
	_on_bus("gdbus", ["call", "-d", "org.a", "-o", "/org/a", "-m", "org.a.Manager.ListUnits"]) == set()
	_on_bus("gdbus", ["introspect", "--session", "--dest", "org.a", "--object-path", "/org/a"]) == set()
	_on_bus("dbus-send", ["--dest=org.a", "/org/a", "org.a.Properties.Get", "string:a"]) == set()
	_on_bus("gdbus", ["call", "-m", "org.freedesktop.Notifications.Notify"]) == set()
	_on_bus("qdbus", []) == set()
}
