package grammars

import (
	"github.com/bailiff-dev/bailiff/internal/facts/shell/effects"
)

// sshKeygenEffects: ssh-keygen writes the file of a key, unless it is only asked about one.
func sshKeygenEffects(e *effects.Collector, _ string) {
	file, ok := e.Args.Value("-f")
	if !ok {
		return
	}
	if e.Args.Has("-l", "-y", "-B", "-F", "-e", "-H") {
		e.Read(file)
		return
	}
	e.Write(file)
}
