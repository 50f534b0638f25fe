package bailiff_test

mode(spelt) := found([object.union(call("chmod", [], [spelt, "a"]), {"writes": ["a"]})])

test_modes_that_let_everyone_write if {
	every spelt in ["777", "0777", "666", "o+w", "a+w", "ugo+rwx", "o=rwx", "+w,o+w", "a=rw"] {
		mode(spelt) == {"command.widens_permissions"}
	}
}

test_modes_that_lend_the_owner if {
	every spelt in ["u+s", "g+s", "+s", "4755", "2755", "a+x,u+s"] {
		mode(spelt) == {"command.sets_setuid"}
	}
}

test_ordinary_modes if {
	every spelt in ["+x", "u+x", "755", "644", "600", "0640", "u+rw", "go-w", "a-w", "a+r", "u=rwx,go=rx", "1755"] {
		mode(spelt) == set()
	}
}

test_masks_that_let_everyone_write if {
	every mask in ["000", "0", "001", "o+w", "a=rwx"] {
		found([call("umask", [], [mask])]) == {"command.widens_permissions"}
	}
	every mask in ["022", "027", "0077", "002", "u=rwx,go="] {
		found([call("umask", [], [mask])]) == set()
	}
}
