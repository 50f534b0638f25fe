package bailiff_test

_project := {"source": "/srv/p", "target": "/home/a/p", "read_only": false}

_with_project(mount, asked) := _settled_by(
	{"platforms": {"telegram": object.union(_usual_platform, {"mounts": {"docker": [mount], "ssh": [mount]}})}},
	asked,
)

_protected_by(mount, asked) := {path | some path in _with_project(mount, asked).backend.mounts[0].protected}

_writing(paths) := object.union(
	request("telegram", [call("tee", [], paths)]),
	{"command": {"writes": paths, "calls": [object.union(call("tee", [], paths), {"writes": paths})]}},
)

test_a_folder_that_may_be_written_has_protected_places if {
	all := _protected_by(_project, _ls("telegram"))
	{".git/config", ".claude/", "**/.mcp.json"} - all == set()
	_protected_by(object.union(_project, {"protected": [".secret"]}), _ls("telegram")) == {".secret"}
	_protected_by(object.union(_project, {"protected": []}), _ls("telegram")) == set()
	_protected_by(object.union(_project, {"read_only": true}), _ls("telegram")) == set()
}

test_a_place_that_is_switched_off_is_not_protected if {
	all := _protected_by(_project, _ls("telegram")) with data.bailiff.tables.protected as {".envrc": true, ".npmrc": false}
	all == {".envrc"}
	without := _with_project(_project, _ls("telegram")) with data.bailiff.tables.protected as {}
	without.backend.mounts == [_project]
}

test_a_place_is_protected_by_its_source_and_by_true if {
	all := _protected_by(_project, _ls("telegram")) with data.bailiff.tables.protected as {".a": "a(1)", ".b": true, "**/.c": "c(1)"}
	all == {".a", ".b", "**/.c"}
	off := _protected_by(_project, _ls("telegram")) with data.bailiff.tables.protected as {"**/.c": "c(1)", ".c": false, ".d": true}
	off == {".d"}
}

test_a_file_at_any_depth_is_protected_until_it_is_asked_about if {
	every path, place in {
		"/home/a/p/sub/.npmrc": "**/.npmrc",
		"/home/a/p/.npmrc": "**/.npmrc",
		"/home/a/p/sub/deep/.vscode/tasks.json": "**/.vscode/tasks.json",
		"/home/a/p/sub/.vscode": "**/.vscode/tasks.json",
		"/home/a/p/x/b.code-workspace": "**/*.code-workspace",
	} {
		asked := _writing([path])
		concat("/", ["/home/a/p", place]) in _found_at(asked)
		not place in _protected_by(_project, asked)
	}
	every name in ["sub", "sub/x.npmrc", "sub/.npmrc2", "vscode/tasks.json", "code-workspace"] {
		path := concat("/", ["/home/a/p", name])
		_found_at(_writing([path])) == set()
	}
}

# What people and agents edit every day, though programs run it.
test_everyday_files_are_no_finding if {
	every name in [
		"package.json", "Makefile", "Dockerfile", "pyproject.toml", "Cargo.toml", "go.mod", "src/main.rs", ".gitignore", ".env",
		"docker-compose.yml", ".github/workflows/ci.yml", "tsconfig.json", "eslint.config.js", "vite.config.ts", "conftest.py",
		"pnpm-workspace.yaml", ".editorconfig", ".dockerignore", ".prettierrc", ".prettierrc.json", ".eslintrc.json", ".nvmrc",
		".python-version", ".yarn/cache/x.zip", ".venv/bin/python", "node_modules/x/index.js", "AGENTS.md", "CLAUDE.md",
	] {
		_found_at(_writing([concat("/", ["/home/a/p", name])])) == set()
	}
}

test_a_protected_place_that_is_written_is_a_finding_and_left_out if {
	every path, place in {
		"/home/a/p/.gdbinit": ".gdbinit",
		"/home/a/p/.claude/settings.json": ".claude/",
		"/home/a/p/.git": ".git/config",
		"/home/a/p/.git/modules/x/hooks/pre-push": ".git/modules/*/hooks/",
	} {
		asked := _writing([path])
		sprintf("/home/a/p/%s", [place]) in _found_at(asked)
		not place in _protected_by(_project, asked)
	}
}

test_a_repository_below_a_folder_is_protected_until_it_is_asked_about if {
	"**/.git" in _protected_by(_project, _ls("telegram"))
	every path in ["/home/a/p/sub/.git", "/home/a/p/sub/deep/.git/config"] {
		asked := _writing([path])
		"/home/a/p/**/.git" in _found_at(asked)
		not "**/.git" in _protected_by(_project, asked)
	}
	not "**/.git" in _protected_by(_project, request("telegram", [call("git", [], ["remote", "add", "b", "c"])]))
	every path in ["/home/a/p/sub", "/home/a/p/sub/git", "/home/a/p/sub/.github/x"] {
		asked := _writing([path])
		not "/home/a/p/**/.git" in _found_at(asked)
		"**/.git" in _protected_by(_project, asked)
	}
}

test_every_other_place_stays_protected if {
	asked := _writing(["/home/a/p/.npmrc"])
	_found_at(asked) == {"/home/a/p/**/.npmrc"}
	".git/config" in _protected_by(_project, asked)
}

test_what_is_written_beside_protected_places_is_no_finding if {
	every path in ["/home/a/p", "/home/a/p/main.go", "/home/a/p/.npmrc2", "/workspace/.mcp.yaml", "main.go", "/home/a"] {
		_found_at(_writing([path])) == set()
	}
}

test_settings_of_a_repository_are_a_finding if {
	every words in [
		["config", "core.editor", "a"], ["remote", "add", "b", "c"],
		["remote", "set-url", "b", "c"], ["submodule", "add", "u"],
	] {
		asked := request("telegram", [call("git", [], words)])
		_found_at(asked) == {"/home/a/p/.git/config"}
		not ".git/config" in _protected_by(_project, asked)
	}
	every words in [
		["config", "--get", "core.editor"], ["config", "user.name", "a"], ["remote"],
		["remote", "show", "b"], ["push", "origin", "main"], ["submodule", "status"],
	] {
		flags := [word | some word in words; startswith(word, "-")]
		operands := [word | some word in words; not startswith(word, "-")]
		_found_at(request("telegram", [call("git", flags, operands)])) == set()
	}
	_found_at(request("telegram", [call("git", ["--global"], ["config", "core.editor", "a"])])) == set()
}

# The protected places among the findings on a request.
_found_at(asked) := {finding.match |
	some finding in data.bailiff._examined.mounts with input as asked
		with data.bailiff.tables.platforms as {"telegram": object.union(_usual_platform, {"mounts": {"docker": [_project]}})}
	startswith(finding.match, "/home/a/p/")
	finding.rule == "command.writes_startup"
}
