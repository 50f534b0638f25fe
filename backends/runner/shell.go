package runner

import "github.com/bailiff-dev/bailiff/backends"

const shell = "/bin/bash"

// Shell is the command that runs a script as "bash -c" does, without start-up files.
func Shell(script string) backends.Command {
	argv := []string{shell, "--noprofile", "--norc", "-c"}
	if len(script) <= maxWord {
		return backends.Command{Argv: append(argv, script)}
	}
	return backends.Command{Argv: append(append(argv, joined, shell), words(script)...)}
}

// maxWord is less than what the kernel takes as one word of a command (128 KiB).
const maxWord = 120 << 10

// joined runs the script that its arguments make up together.
const joined = `IFS=; eval "IFS=\$' \t\n'; set --; $*"`

func words(script string) []string {
	var list []string
	for len(script) > maxWord {
		list = append(list, script[:maxWord])
		script = script[maxWord:]
	}
	return append(list, script)
}
