package shell

// cmake is a toolbox behind -E: its tools are read as the programs that they stand for.
func (a *analysis) cmake(name string, inv *invocation, _ *arguments) (result, bool) {
	words := inv.argv[1:]
	if len(words) < 2 || words[0].text != "-E" {
		return result{}, false
	}
	tool, rest := words[1], words[2:]
	argv := append(stoodFor(tool.text), rest...)
	if tool.text == "chdir" && len(rest) > 1 {
		in := *inv
		in.sc = a.standing(rest[0], inv.sc)
		return a.inner(name, &in, rest[1:]), true
	}
	return a.inner(name, inv, argv), true
}

// stoodFor is the beginning of the call that does what a tool of cmake does.
func stoodFor(tool string) []word {
	switch tool {
	case "copy", "copy_if_different":
		return []word{known("cp")}
	case "copy_directory", "copy_directory_if_different":
		return []word{known("cp"), known("-r")}
	case "rename":
		return []word{known("mv")}
	case "remove":
		return []word{known("rm")}
	case "remove_directory":
		return []word{known("rm"), known("-r")}
	case "make_directory":
		return []word{known("mkdir"), known("-p")}
	case "touch_nocreate":
		return []word{known("touch"), known("-c")}
	case "create_symlink":
		return []word{known("ln"), known("-s")}
	case "create_hardlink":
		return []word{known("ln")}
	case "compare_files":
		return []word{known("cmp")}
	}
	return []word{known(tool)}
}
