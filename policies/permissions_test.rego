package bailiff_test

# What is found of modes and masks.
_modes(calls) := _told_of(found) if {
	found := union({
		data.bailiff._examined.modes,
		data.bailiff._examined.masks,
		data.bailiff._examined.calls,
	}) with input as request("cli", calls)
}

_mode(spelt) := _modes([object.union(call("chmod", [], [spelt, "a"]), {"writes": ["a"]})]).rules

test_modes_that_let_everyone_write if {
	every spelt in ["777", "0777", "666", "o+w", "a+w", "ugo+rwx", "o=rwx", "+w,o+w", "a=rw"] {
		_mode(spelt) == {"command.widens_permissions"}
	}
}

test_modes_that_lend_the_owner if {
	every spelt in ["u+s", "g+s", "+s", "4755", "2755", "a+x,u+s"] {
		_mode(spelt) == {"command.sets_setuid"}
	}
}

test_ordinary_modes if {
	every spelt in ["+x", "u+x", "755", "644", "600", "0640", "u+rw", "go-w", "a-w", "a+r", "u=rwx,go=rx", "1755"] {
		_mode(spelt) == set()
	}
}

test_masks_that_let_everyone_write if {
	every mask in ["000", "0", "001", "o+w", "a=rwx"] {
		_modes([call("umask", [], [mask])]).rules == {"command.widens_permissions"}
	}
	every mask in ["022", "027", "0077", "002", "u=rwx,go="] {
		_modes([call("umask", [], [mask])]).rules == set()
	}
}

test_modes_are_found_with_the_whole_call if {
	_modes([call("chmod", [], ["777", "a"])]).told == {"command.widens_permissions: chmod 777 a"}
	_modes([call("chmod", [], ["u+s", "a"])]).told == {"command.sets_setuid: chmod u+s a"}
	_modes([call("chmod", [], ["644", "a"])]).told == set()
	_modes([call("install", ["-m4755"], ["a", "b"])]).told == {"command.sets_setuid: install -m4755 a b"}
	_modes([call("mkdir", ["-m"], ["0777", "a"])]).told == {"command.widens_permissions: mkdir -m 0777 a"}
	_modes([call("umask", [], ["000"])]).told == {"command.widens_permissions: umask 000"}
	_modes([call("umask", [], ["022"])]).told == set()
	[mode |
		some mode in ["777", "0666", "o+w", "a=rw", "755", "u+w", "1777"]
		data.bailiff._world_writable(mode)
	] == [
		"777",
		"0666",
		"o+w",
		"a=rw",
		"1777",
	]
	[mode |
		some mode in ["4755", "02755", "u+s", "g=xs", "755", "1777", "+x"]
		data.bailiff._sets_id(mode)
	] == [
		"4755",
		"02755",
		"u+s",
		"g=xs",
	]
	[mask |
		some mask in ["000", "022", "027", "0", "077", "o+w", "u=rwx"]
		data.bailiff._lets_others_write(mask)
	] == [
		"000",
		"0",
		"o+w",
	]
}
