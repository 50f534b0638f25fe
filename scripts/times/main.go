// Command times prints where the time of a run of .ci/run went, as the table of
// docs/design/code.md: the seconds of each step, and of each package for compiling,
// linking, testing and looking for races.
//
//	go run ./scripts/times FOLDER
//
// The folder holds "steps", a line "name seconds" for each step, and the action graphs
// that "go test -debug-actiongraph" wrote: test.graph, and race.graph and race-short.graph of the race detector.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const module = "github.com/bailiff-dev/bailiff"

// others is the row of the packages that are not this module's.
const others = "libraries"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: times FOLDER")
		os.Exit(2)
	}
	if err := report(os.Stdout, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "times:", err)
		os.Exit(1)
	}
}

// report writes both tables. A step that did not come to an end has no graph.
func report(w io.Writer, folder string) error {
	steps, err := os.ReadFile(filepath.Join(folder, "steps"))
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "| step | seconds |\n|---|---|\n")
	for line := range strings.Lines(string(steps)) {
		name, seconds, _ := strings.Cut(strings.TrimSpace(line), " ")
		fmt.Fprintf(w, "| %s | %s |\n", name, seconds)
	}
	rows := map[string]*row{}
	for _, graph := range []string{"test", "race", "race-short"} {
		if err := add(rows, filepath.Join(folder, graph+".graph"), graph != "test"); err != nil && !os.IsNotExist(err) {
			return fmt.Errorf("reading %s: %w", graph, err)
		}
	}
	printRows(w, rows)
	return nil
}

// row is what a package took: compiling and linking in processor time, which is the same
// on a busy machine, and its tests by the clock, since most of them wait for other programs.
type row struct{ compile, link, test, race time.Duration }

func (r row) sum() time.Duration { return r.compile + r.link + r.test + r.race }

func (r *row) add(o row) {
	r.compile += o.compile
	r.link += o.link
	r.test += o.test
	r.race += o.race
}

// action is a part of an action graph.
type action struct {
	Mode, Package       string
	TimeStart, TimeDone time.Time
	CmdUser, CmdSys     time.Duration
}

// add reads an action graph into the rows.
func add(rows map[string]*row, path string, race bool) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	var graph []action
	if err := json.NewDecoder(bufio.NewReader(file)).Decode(&graph); err != nil {
		return err
	}
	for _, a := range graph {
		name := folderOf(a.Package)
		if rows[name] == nil {
			rows[name] = &row{}
		}
		rows[name].add(a.took(race))
	}
	return nil
}

// folderOf is the folder of a package of this module, or of its tests.
func folderOf(path string) string {
	folder, ours := strings.CutPrefix(path, module)
	if !ours {
		return others
	}
	folder = strings.TrimSuffix(strings.TrimSuffix(folder, ".test"), "_test")
	return cmp.Or(strings.TrimPrefix(folder, "/"), ".")
}

func (a action) took(race bool) row {
	switch {
	case a.Mode == "build":
		return row{compile: a.CmdUser + a.CmdSys}
	case a.Mode == "link":
		return row{link: a.CmdUser + a.CmdSys}
	case a.Mode == "test run" && race:
		return row{race: a.TimeDone.Sub(a.TimeStart)}
	case a.Mode == "test run":
		return row{test: a.TimeDone.Sub(a.TimeStart)}
	}
	return row{}
}

// least is what a package took in all that has a row of its own.
const least = 5 * time.Second

// printRows prints the dearest packages first, the rest and the sum last.
func printRows(w io.Writer, rows map[string]*row) {
	names := slices.SortedFunc(maps.Keys(rows), func(a, b string) int {
		return cmp.Or(cmp.Compare(rows[b].sum(), rows[a].sum()), cmp.Compare(a, b))
	})
	var rest, all row
	fmt.Fprintf(w, "\n| package | compile | link | test | race |\n|---|---|---|---|---|\n")
	for _, name := range names {
		all.add(*rows[name])
		if rows[name].sum() < least {
			rest.add(*rows[name])
			continue
		}
		rows[name].print(w, "`"+name+"`")
	}
	rest.print(w, "the others")
	all.print(w, "all")
}

func (r row) print(w io.Writer, name string) {
	fmt.Fprintf(w, "| %s | %.0f | %.0f | %.0f | %.0f |\n", name, r.compile.Seconds(), r.link.Seconds(), r.test.Seconds(), r.race.Seconds())
}
