package bailiff_test

test_strange_places_are_asked_about if {
	every said in [
		"PATH=/tmp/evil:$PATH", "PATH=$PATH:/mnt/x", "PATH=/usr/../tmp/x", "LD_LIBRARY_PATH=/tmp/x", "PYTHONPATH=/tmp/x:src",
		"CC=/tmp/cc", "EDITOR=/dev/shm/e -w", "PAGER=less; id", "NODE_OPTIONS=--require /tmp/x.js", "NODE_OPTIONS=--import=data:x",
		"JAVA_TOOL_OPTIONS=-javaagent:/tmp/a.jar", "GOFLAGS=-toolexec=x", "MAKEFLAGS=--eval=x", "LD_PRELOAD=./x.so",
	] {
		_setting(said) == {"command.preloads_library"}
	}
}

test_usual_places_are_ordinary if {
	every said in [
		"PATH=$PATH:~/.local/bin", "PATH=./node_modules/.bin:$PATH", "PATH=/usr/local/go/bin:$PATH", "PYTHONPATH=.",
		"PYTHONPATH=/home/ana/p",
		"CC=clang", "CC=ccache gcc", "CC=/usr/bin/gcc", "CC=./cc", "EDITOR=true", "NODE_OPTIONS=--max-old-space-size=4096",
		"NODE_OPTIONS=-r ts-node/register", "JAVA_TOOL_OPTIONS=-Xmx1g", "GOFLAGS=-mod=mod", "FOO=/tmp/x", "HISTCONTROL=ignoredups",
	] {
		_setting(said) == set()
	}
}

test_workspace_is_a_usual_place if {
	asked := object.union(request("cli", []), {"args": {"workdir": "/data/p"}, "command": {"settings": ["PATH=/data/p/bin:$PATH"]}})
	data.bailiff._examined.settings == set() with input as asked
}

test_values_that_are_not_ordinary if {
	[value |
		some value in ["/tmp/x", "src:/usr/bin", "$PATH:/mnt/x", "~/bin", ""]
		data.bailiff._leads_astray("folders", value)
	] == [
		"/tmp/x",
		"$PATH:/mnt/x",
	]
	[value |
		some value in ["clang", "/usr/bin/gcc", "/tmp/cc", "less; id", "ccache gcc"]
		data.bailiff._leads_astray("program", value)
	] == [
		"/tmp/cc",
		"less; id",
	]
	[value |
		some value in ["--require /tmp/x.js", "-r ts-node/register", "--max-old-space-size=1"]
		data.bailiff._leads_astray("node_options", value)
	] == [
		"--require /tmp/x.js",
	]
	[value |
		some value in ["-javaagent:/tmp/a.jar", "-javaagent:lib/a.jar", "-Xmx1g"]
		data.bailiff._leads_astray("java_options", value)
	] == [
		"-javaagent:/tmp/a.jar",
	]
	[value |
		some value in ["-exec=x", "-toolexec x", "-mod=mod"]
		data.bailiff._leads_astray("go_options", value)
	] == [
		"-exec=x",
		"-toolexec x",
	]
	[value |
		some value in ["--eval=x", "SHELL = x", "-j4"]
		data.bailiff._leads_astray("make_options", value)
	] == [
		"--eval=x",
		"SHELL = x",
	]
	data.bailiff._leads_astray("always", "") == true
	[path |
		some path in ["/tmp/x", "/usr/bin", "/usr/../tmp", "~ana/x", "~/x", "src", "/opt/x"]
		data.bailiff._strange(path)
	] == [
		"/tmp/x",
		"/usr/../tmp",
		"~ana/x",
	]
}

test_files_that_start_unasked_are_asked_about_in_the_project_too if {
	every said in [
		"RUSTC_WRAPPER=./x", "FOO_RUNNER=build/x", "CVS_RSH=~/x", "ZDOTDIR=/home/ana/x", "SSH_ASKPASS=/usr/../tmp/x",
		"SSLKEYLOGFILE=k", "SBT_OPTS=-javaagent:./a.jar", "LUA_INIT_5_4=x", "NODE_OPTIONS=--import=./x.mjs",
	] {
		_setting(said) == {"command.preloads_library"}
	}
	every said in [
		"RUSTC_WRAPPER=sccache", "FOO_RUNNER=/usr/bin/qemu", "SSH_ASKPASS=", "PYTHONBREAKPOINT=0", "SBT_OPTS=-Xmx1g", "PROXY=x",
	] {
		_setting(said) == set()
	}
}

test_addresses_of_other_machines_are_asked_about if {
	every said in [
		"HTTPS_PROXY=http://x.test:1", "foo_proxy=socks5://u@x.test", "GOPROXY=https://x.test,direct",
		"AWS_ENDPOINT_URL_S3=http://x.test",
	] {
		_setting(said) == {"command.redirects_connections"}
	}
	every said in [
		"HTTPS_PROXY=http://localhost:1", "http_proxy=", "no_proxy=x.test", "GOPROXY=https://proxy.golang.org,direct", "GOPROXY=off",
		"ALL_PROXY=socks5://u:p@127.0.0.1:1",
	] {
		_setting(said) == set()
	}
}

test_a_shell_in_place_of_a_viewer_is_not_ordinary if {
	[value |
		some value in ["less", "/bin/sh", "bash -s", "sh -c 'less -R'", "/tmp/less", "less; id"]
		data.bailiff._leads_astray("viewer", value)
	] == ["/bin/sh", "bash -s", "/tmp/less", "less; id"]
}
