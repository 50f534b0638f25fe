// Package corpus holds commands and programs with the outcome that the shipped
// policies must give them: evasions and innocents alike. It is a specification
// in data, read by a test and by the demonstration.
//
// Each file in cases is one theme. A case that names no platform is of cli on a
// backend without isolation, where everything dangerous must be asked about and
// nothing ordinary may be.
package corpus

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/bailiff-dev/bailiff"
)

// Case is one request's text and what must be said of it.
type Case struct {
	// Theme is the name of the file that the case stands in.
	Theme string
	// Command is a terminal's text, Code a program for execute_code; one is set.
	Command, Code string
	Platform      string
	Outcome       bailiff.Outcome
	// Rule is one that must be among the reasons; empty where nothing is said.
	Rule string
	// Programs and Features must be among the facts of the text.
	Programs, Features []string
	// Complete is compared with the facts if it is given.
	Complete *bool
}

// group is what the cases in it share, and their texts.
type group struct {
	Outcome  string   `yaml:"outcome"`
	Rule     string   `yaml:"rule"`
	Platform string   `yaml:"platform"`
	Programs []string `yaml:"programs"`
	Features []string `yaml:"features"`
	Complete *bool    `yaml:"complete"`
	Commands []string `yaml:"commands"`
	Codes    []string `yaml:"codes"`
}

//go:embed cases/*.yaml
var files embed.FS

// Cases returns all cases, theme by theme.
func Cases() ([]Case, error) {
	names, err := fs.Glob(files, "cases/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("listing the corpus: %w", err)
	}
	var all []Case
	for _, name := range names {
		cases, err := read(name)
		if err != nil {
			return nil, fmt.Errorf("reading the corpus %s: %w", name, err)
		}
		all = append(all, cases...)
	}
	return all, nil
}

func read(name string) ([]Case, error) {
	text, err := files.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var groups []group
	if err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(&groups); err != nil {
		return nil, err
	}
	theme := strings.TrimSuffix(path.Base(name), ".yaml")
	var all []Case
	for _, g := range groups {
		cases, err := g.cases(theme)
		if err != nil {
			return nil, err
		}
		all = append(all, cases...)
	}
	return all, nil
}

func (g group) cases(theme string) ([]Case, error) {
	shared := Case{Theme: theme, Rule: g.Rule, Platform: cmp.Or(g.Platform, "cli"),
		Programs: g.Programs, Features: g.Features, Complete: g.Complete}
	if err := shared.Outcome.UnmarshalText([]byte(g.Outcome)); err != nil {
		return nil, err
	}
	var all []Case
	for _, text := range g.Commands {
		c := shared
		c.Command = text
		all = append(all, c)
	}
	for _, text := range g.Codes {
		c := shared
		c.Code = text
		all = append(all, c)
	}
	return all, nil
}
