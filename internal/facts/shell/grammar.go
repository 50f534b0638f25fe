package shell

import "github.com/bailiff-dev/bailiff/internal/facts/programs"

// grammar is what only Go can say of a program: each lies in the file of its name.
type grammar struct {
	// arguments reads the arguments of a call.
	arguments func(words []word, p *programs.Program) *arguments
	// runs does what a call runs; it is false for a call that runs nothing.
	runs func(a *analysis, name string, inv *invocation, args *arguments) (result, bool)
	// files notes the files of a project that a call runs.
	files func(a *analysis, name string, inv *invocation, args *arguments)
	// effects notes the files and hosts that a call names.
	effects func(e *effect, name string)
}

// grammarOf is the grammar of a name in programs.yaml.
func grammarOf(name string) grammar {
	switch name {
	case "awk":
		return grammar{runs: (*analysis).awk, effects: (*effect).awk}
	case "cmake":
		return grammar{runs: (*analysis).cmake}
	case "command":
		return grammar{runs: (*analysis).named}
	case "cpio":
		return grammar{effects: (*effect).cpio}
	case "curl", "wget":
		return grammar{effects: (*effect).download}
	case "dd":
		return grammar{effects: (*effect).dd}
	case "dig":
		return grammar{effects: (*effect).dig}
	case "docker":
		return grammar{arguments: dockerArguments, runs: (*analysis).container, files: (*analysis).compose, effects: (*effect).mounts}
	case "docker-compose":
		return grammar{files: (*analysis).dockerCompose}
	case "dpkg":
		return grammar{effects: (*effect).dpkg}
	case "env":
		return grammar{runs: (*analysis).env}
	case "exec":
		return grammar{runs: (*analysis).exec}
	case "fd":
		return grammar{runs: (*analysis).find}
	case "find":
		return grammar{runs: (*analysis).find, effects: (*effect).find}
	case "flock":
		return grammar{runs: (*analysis).flock}
	case "git":
		return grammar{arguments: gitArguments, runs: (*analysis).git, effects: (*effect).git}
	case "httpie":
		return grammar{effects: (*effect).httpie}
	case "kubectl":
		return grammar{runs: (*analysis).cluster}
	case "make":
		return grammar{files: (*analysis).makefiles}
	case "mosh":
		return grammar{effects: (*effect).ssh}
	case "ninja":
		return grammar{files: (*analysis).ninja}
	case "netcat":
		return grammar{runs: (*analysis).netcat}
	case "nix-shell":
		return grammar{runs: (*analysis).nixShell}
	case "parallel":
		return grammar{runs: (*analysis).parallel}
	case "perl":
		return grammar{effects: (*effect).perl}
	case "screen":
		return grammar{runs: (*analysis).screen}
	case "script":
		return grammar{runs: (*analysis).scriptOf}
	case "sed":
		return grammar{arguments: sedArguments, runs: (*analysis).sed, effects: (*effect).sed}
	case "socat":
		return grammar{runs: (*analysis).socat, effects: (*effect).socat}
	case "source":
		return grammar{effects: (*effect).source}
	case "ssh":
		return grammar{runs: (*analysis).ssh, effects: (*effect).ssh}
	case "ssh-keygen":
		return grammar{effects: (*effect).sshKeygen}
	case "su":
		return grammar{runs: (*analysis).su}
	case "tar":
		return grammar{arguments: tarArguments, runs: (*analysis).tar, effects: (*effect).tar}
	case "tmux":
		return grammar{runs: (*analysis).tmux}
	case "type":
		return grammar{runs: (*analysis).typeOf}
	case "unzip":
		return grammar{runs: (*analysis).unzip, effects: (*effect).unzip}
	case "vim":
		return grammar{runs: (*analysis).vim}
	case "watch":
		return grammar{runs: (*analysis).watch}
	case "which":
		return grammar{runs: (*analysis).which}
	case "xargs":
		return grammar{runs: (*analysis).xargs}
	}
	return grammar{}
}
