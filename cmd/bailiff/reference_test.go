package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// referenceDir has a page for each command.
var referenceDir = filepath.Join("..", "..", "docs", "cli")

// The pages are what the commands say of themselves: BAILIFF_UPDATE_RESULTS=1 writes them anew.
func TestTheReferenceOfTheCommandsIsWhatTheySay(t *testing.T) {
	root := newRoot()
	root.InitDefaultCompletionCmd() // which cobra otherwise does when a line is run
	pages := reference(root)
	if os.Getenv("BAILIFF_UPDATE_RESULTS") != "" {
		write(t, pages)
	}
	written, err := filepath.Glob(filepath.Join(referenceDir, "*.md"))
	if err != nil || len(written) != len(pages) {
		t.Errorf("docs/cli has %d pages, want %d (%v)", len(written), len(pages), err)
	}
	for name, want := range pages {
		if got, err := os.ReadFile(filepath.Join(referenceDir, name)); err != nil || string(got) != want {
			t.Errorf("docs/cli/%s is not what the command says (%v): run BAILIFF_UPDATE_RESULTS=1 go test ./cmd/bailiff -run %s", name, err,
				t.Name())
		}
	}
}

func write(t *testing.T, pages map[string]string) {
	t.Helper()
	old, err := filepath.Glob(filepath.Join(referenceDir, "*.md"))
	for _, page := range old {
		err = errors.Join(err, os.Remove(page))
	}
	err = errors.Join(err, os.MkdirAll(referenceDir, 0o755)) //nolint:gosec // pages are for all
	for name, text := range pages {
		err = errors.Join(err, os.WriteFile(filepath.Join(referenceDir, name), []byte(text), 0o644)) //nolint:gosec // as above
	}
	if err != nil {
		t.Fatal(err)
	}
}

// reference are the pages by their names.
func reference(root *cobra.Command) map[string]string {
	var list bytes.Buffer
	list.WriteString("# Commands\n\nAfter this page you know which command does what. " +
		"Each page is what `bailiff COMMAND --help` says.\n\n")
	fmt.Fprintf(&list, "| command | what it does |\n|---|---|\n")
	pages := map[string]string{}
	for _, c := range shownCommands(root) {
		pages[c.Name()+".md"] = pageOf(c)
		fmt.Fprintf(&list, "| [`%s`](%s.md) | %s |\n", c.CommandPath(), c.Name(), cell(c.Short))
	}
	fmt.Fprintf(&list, "\nAll commands take these flags:\n\n%s", table(root.PersistentFlags()))
	pages["README.md"] = list.String()
	return pages
}

func shownCommands(c *cobra.Command) []*cobra.Command {
	return slices.DeleteFunc(slices.Clone(c.Commands()), func(c *cobra.Command) bool { return !c.IsAvailableCommand() })
}

// pageOf is the page of a command, with those below it.
func pageOf(c *cobra.Command) string {
	var page bytes.Buffer
	fmt.Fprintf(&page, "# %s\n\nAfter this page you know each flag of `%[1]s`.\n\n", c.CommandPath())
	describe(&page, c)
	for _, below := range shownCommands(c) {
		fmt.Fprintf(&page, "\n## %s\n\n", below.CommandPath())
		describe(&page, below)
	}
	return page.String()
}

func describe(page *bytes.Buffer, c *cobra.Command) {
	text := c.Long
	if text == "" {
		text = c.Short + "."
	}
	fmt.Fprintf(page, "```text\n%s\n", strings.TrimSpace(text))
	if c.Runnable() {
		fmt.Fprintf(page, "\nUsage: %s\n", c.UseLine())
	}
	if c.Example != "" {
		fmt.Fprintf(page, "\nExamples:\n%s\n", strings.TrimRight(c.Example, "\n"))
	}
	fmt.Fprintf(page, "```\n")
	if flags := table(c.LocalNonPersistentFlags()); flags != "" {
		fmt.Fprintf(page, "\n%s", flags)
	}
}

// table are the flags, in the order of their names; empty if there are none.
func table(flags *pflag.FlagSet) string {
	var rows strings.Builder
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		kind, usage := pflag.UnquoteUsage(f)
		if kind != "" {
			kind = " " + kind
		}
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" && f.DefValue != "0" && f.DefValue != "0s" {
			usage += fmt.Sprintf(" (default: %s)", f.DefValue)
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		fmt.Fprintf(&rows, "| `%s%s` | %s |\n", name, kind, cell(usage))
	})
	if rows.Len() == 0 {
		return ""
	}
	return "| flag | what it does |\n|---|---|\n" + rows.String()
}

// cell is a text as a cell of a table shows it.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "\n", " ").Replace(text)
}
