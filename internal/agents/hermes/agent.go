package hermes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/bailiff-dev/bailiff/internal/agents/settings"
	"github.com/bailiff-dev/bailiff/internal/text/diagnosis"
	"github.com/bailiff-dev/bailiff/internal/text/yamledit"
)

// Agent is Hermes Agent at a terminal: the plug-in in its home, and in its config.yaml that it
// is loaded and that Hermes has no other place to run commands.
type Agent struct{}

func (Agent) home(e settings.Entry) string {
	return cmp.Or(e.Getenv("HERMES_HOME"), filepath.Join(e.Home, ".hermes"))
}

// Settings is the home.
func (a Agent) Settings(e settings.Entry) []string { return []string{a.home(e)} }

// The keys of Hermes' config.yaml that matter here.
var (
	enabledKey = []string{"plugins", "enabled"}
	entryKey   = []string{"plugins", "entries", "bailiff"}
	backendKey = []string{"terminal", "backend"}
)

// Add has Hermes ask.
func (a Agent) Add(e settings.Entry) ([]settings.Change, error) {
	if !settings.Exists(a.home(e)) {
		return nil, fmt.Errorf("there is no Hermes home %s: start Hermes once, or name it by HERMES_HOME", a.home(e))
	}
	plugin, err := a.plugin(e)
	if err != nil {
		return nil, err
	}
	config, err := a.change(e, "has Hermes load the plug-in, and run commands by it only", func(doc *yamledit.Document) error {
		enabled, err := doc.Value(enabledKey...)
		if names, _ := enabled.([]any); err == nil && !slices.Contains(names, any("bailiff")) {
			err = doc.Append("bailiff", enabledKey...)
		}
		return errors.Join(err, setOnce(doc, e.Listen, slices.Concat(entryKey, []string{"settings", "listen"})),
			setOnce(doc, "bailiff", backendKey))
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
func (a Agent) plugin(e settings.Entry) (changes []settings.Change, err error) {
	shipped(func(name string, text []byte) {
		c, wrong := settings.Read(filepath.Join(a.home(e), "plugins", pluginName, filepath.FromSlash(name)), "bailiff's plug-in", 0o644)
		c.After = string(text)
		changes, err = append(changes, c), errors.Join(err, wrong)
	})
	return changes, err
}

// Remove has Hermes load the plug-in no longer. Where no record says what was there before, the place where it runs commands
// stays the plug-in's, so that it runs none until another is named.
func (a Agent) Remove(e settings.Entry) ([]settings.Change, error) {
	c, err := a.change(e, "has Hermes load the plug-in no longer", func(doc *yamledit.Document) error {
		enabled, err := doc.Value(enabledKey...)
		if names, _ := enabled.([]any); err == nil && slices.Contains(names, any("bailiff")) {
			err = doc.Set(slices.DeleteFunc(names, func(name any) bool { return name == "bailiff" }), enabledKey...)
		}
		return errors.Join(err, doc.Delete(entryKey...))
	})
	return []settings.Change{c}, err
}

func (a Agent) change(e settings.Entry, why string, edit func(*yamledit.Document) error) (settings.Change, error) {
	c, err := e.Open(filepath.Join(a.home(e), "config.yaml"), why, 0o600)
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

// Leftovers is what a removal leaves where no record says what there was.
func (a Agent) Leftovers(e settings.Entry) []string {
	return []string{"Hermes runs no command until terminal.backend in " + filepath.Join(a.home(e), "config.yaml") +
		" says where, since no record says what it said before."}
}

// Advice is what is left to do.
func (a Agent) Advice(e settings.Entry) []string {
	return []string{
		"Restart Hermes. The listener speaks for cli only: for Telegram and others name them there (docs/clients/hermes.md).",
		"Without the plug-in Hermes runs no command: terminal.backend in " + filepath.Join(a.home(e), "config.yaml") + " says where.",
	}
}

// Examine looks at the home as "bailiff hermes doctor" does.
func (a Agent) Examine(ctx context.Context, e settings.Entry, sidecar Sidecar) (diagnosis.Checks, error) {
	folder, err := filepath.Abs(a.home(e))
	if err != nil {
		return nil, fmt.Errorf("finding Hermes' home: %w", err)
	}
	home, err := Read(folder, ManagedFolder())
	if err != nil {
		return nil, err
	}
	return Examine(ctx, home, sidecar).Checks, nil
}
