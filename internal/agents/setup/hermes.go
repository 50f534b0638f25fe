package setup

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	example "github.com/bailiff-dev/bailiff/examples/hermes"
	"github.com/bailiff-dev/bailiff/internal/text/yamledit"
)

// hermes is Hermes Agent at a terminal: the plug-in in its home, and in its config.yaml that it
// is loaded and that Hermes has no other place to run commands.
type hermes struct{}

func (hermes) home(e Entry) string {
	return cmp.Or(e.Getenv("HERMES_HOME"), filepath.Join(e.Home, ".hermes"))
}

func (h hermes) settings(e Entry) []string { return []string{h.home(e)} }

// The keys of Hermes' config.yaml that matter here.
var (
	hermesEnabled = []string{"plugins", "enabled"}
	hermesEntry   = []string{"plugins", "entries", "bailiff"}
	hermesBackend = []string{"terminal", "backend"}
)

func (h hermes) add(e Entry) ([]Change, error) {
	if !isThere(h.home(e)) {
		return nil, fmt.Errorf("there is no Hermes home %s: start Hermes once, or name it by HERMES_HOME", h.home(e))
	}
	plugin, err := h.plugin(e)
	if err != nil {
		return nil, err
	}
	config, err := h.change(e, "has Hermes load the plug-in, and run commands by it only", func(doc *yamledit.Document) error {
		enabled, err := doc.Value(hermesEnabled...)
		if names, _ := enabled.([]any); err == nil && !slices.Contains(names, any("bailiff")) {
			err = doc.Append("bailiff", hermesEnabled...)
		}
		return errors.Join(err, setOnce(doc, e.Listen, slices.Concat(hermesEntry, []string{"settings", "listen"})),
			setOnce(doc, "bailiff", hermesBackend))
	})
	return append(plugin, config), err
}

// setOnce sets a value where there is another one.
func setOnce(doc *yamledit.Document, value string, path []string) error {
	if said, err := doc.Value(path...); err != nil || said == value {
		return err
	}
	return doc.Set(value, path...)
}

// plugin are the files of the plug-in.
func (h hermes) plugin(e Entry) (changes []Change, err error) {
	err = fs.WalkDir(example.Plugin, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := example.Plugin.ReadFile(name)
		if err != nil {
			return err
		}
		c, err := readFile(filepath.Join(h.home(e), "plugins", filepath.FromSlash(name)), "bailiff's plug-in", 0o644)
		c.After = string(text)
		changes = append(changes, c)
		return err
	})
	return changes, err
}

// remove has Hermes load the plug-in no longer. Where no record says what was there before, the place where it runs commands
// stays the plug-in's, so that it runs none until another is named.
func (h hermes) remove(e Entry) ([]Change, error) {
	c, err := h.change(e, "has Hermes load the plug-in no longer", func(doc *yamledit.Document) error {
		enabled, err := doc.Value(hermesEnabled...)
		if names, _ := enabled.([]any); err == nil && slices.Contains(names, any("bailiff")) {
			err = doc.Set(slices.DeleteFunc(names, func(name any) bool { return name == "bailiff" }), hermesEnabled...)
		}
		return errors.Join(err, doc.Delete(hermesEntry...))
	})
	return []Change{c}, err
}

func (h hermes) change(e Entry, why string, edit func(*yamledit.Document) error) (Change, error) {
	c, err := e.open(filepath.Join(h.home(e), "config.yaml"), why, 0o600)
	if err != nil {
		return c, err
	}
	doc, err := yamledit.Parse(c.After)
	if err == nil {
		err = edit(doc)
	}
	if err != nil {
		return c, fmt.Errorf("changing %s: %w", c.Path, err)
	}
	c.After = doc.String()
	return c, nil
}

func (h hermes) staying(e Entry) []string {
	return []string{"Hermes runs no command until terminal.backend in " + filepath.Join(h.home(e), "config.yaml") +
		" says where, since no record says what it said before."}
}

func (h hermes) advice(e Entry) []string {
	return []string{
		"Restart Hermes. The listener speaks for cli only: for Telegram and others name them there (docs/clients/hermes.md).",
		"Without the plug-in Hermes runs no command: terminal.backend in " + filepath.Join(h.home(e), "config.yaml") + " says where.",
	}
}
