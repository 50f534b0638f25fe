package settings

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/agents/hook"
)

// TableAgent is an agent of which tables say all.
type TableAgent struct {
	HooksFile
	rootsTop Object
}

// Of is the agent of these tables, which bailiff-hook knows by a word.
func Of(client string, a hook.Agent) TableAgent {
	s := a.Settings
	f := HooksFile{Client: client, Name: s.Name, Table: a.Table, Roots: s.Roots, Managed: s.Managed, Flat: s.Flat, Command: s.Command,
		Top: objectOf(s.Top), Lock: objectOf(s.Lock), Writing: s.Writing, Failing: s.Failing}
	f.Path = func(e Entry) string {
		folder, rest, _ := strings.Cut(s.Path, "/")
		return filepath.Join(cmp.Or(e.Getenv(s.Variable), filepath.Join(e.Home, folder)), rest)
	}
	if s.NoSwitch {
		f.Off = func(Object, Hook) string { return "" }
	}
	return TableAgent{f, objectOf(s.RootsTop)}
}

// objectOf is an object of a table.
func objectOf(text string) Object {
	o, err := ReadObject([]byte(text))
	if err != nil {
		panic(err) // a table of this program's: cannot fail
	}
	return o
}

// RootLines are the lines by which root has every user's agent ask.
func (a TableAgent) RootLines(e Entry) []string {
	own, all := Entry{Programs: "/usr/local/bin"}, slices.Clone(a.rootsTop)
	if err := a.editHooks(&all, a.addition(own)); err != nil {
		panic(err) // of a table of this program's: cannot fail
	}
	files := []File{{Path: a.Roots, Text: all.Text()}}
	if a.Managed != "" {
		files = append(files, File{Path: a.Managed, Text: Object{{"allowManagedHooksOnly", JSON(true)}}.Text()})
	}
	return e.InstallLines(a.Client, files...)
}
