package main

import (
	"bufio"
	"maps"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/facts/programs/index"
)

const packageList = `Package: scan-tool
Section: net
Tag: network::scanner, use::scanning

Package: finds-printers
Section: graphics
Tag: network::scanner,
 use::viewing

Package: web-of-ours
Section: web
Tag: network::server

Package: old-game
Section: contrib/games

Package: untold
Section: utils
`

const contents = `usr/bin/scan net/scan-tool
usr/bin/printers graphics/finds-printers
usr/bin/web-of-ours web/web-of-ours
usr/sbin/tuned utils/untold
usr/games/chess utils/untold
usr/bin/dice games/old-game
usr/bin/thing utils/untold
usr/bin/shared utils/untold,net/scan-tool
usr/share/doc/scan/readme net/scan-tool
usr/bin/ours utils/untold
`

func TestNamesOfPackagesGetTheirKinds(t *testing.T) {
	t.Parallel()
	packages := map[string]about{}
	readPackages(bufio.NewScanner(strings.NewReader(packageList)), packages)
	names := map[string]index.Kind{"ours": index.Edits}
	readContents(bufio.NewScanner(strings.NewReader(contents)), packages, names)
	want := map[string]index.Kind{
		"scan":        index.ScansOrAttacks,
		"printers":    index.Reads,
		"web-of-ours": index.Network,
		"tuned":       index.Administers,
		"chess":       index.Plays,
		"dice":        index.Plays,
		"thing":       index.Other,
		"shared":      index.ScansOrAttacks, // of several packages the strictest
		"ours":        index.Edits,          // written by hand
	}
	if !maps.Equal(names, want) {
		t.Errorf("got %v\nwant %v", names, want)
	}
}

func TestTagsOfServersMeanTheirOwnPrograms(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"web-of-ours": true, "ours-server": true, "oursd": true, "convert": false} {
		if got := serves("network::server", name, "web/web-of-ours"); got != want {
			t.Errorf("%s: got %v", name, got)
		}
	}
	if !serves("use::viewing", "convert", "web/web-of-ours") {
		t.Error("another tag means every program of its package")
	}
}

func TestAListByHandIsReadStrictly(t *testing.T) {
	t.Parallel()
	names, err := readByHand("# A note.\nreads: a b\nplays: c\n")
	if want := map[string]index.Kind{"a": index.Reads, "b": index.Reads, "c": index.Plays}; err != nil || !maps.Equal(names, want) {
		t.Errorf("got %v, %v, want %v", names, err, want)
	}
	for text, want := range map[string]string{
		"reads a":            "by-hand.txt:1: want one of",
		"knows: a":           "by-hand.txt:1: want one of",
		"reads: a\nplays: a": "by-hand.txt:2: a is of the kind reads above",
	} {
		if _, err := readByHand(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
	if _, err := readByHand(byHand); err != nil {
		t.Errorf("the list that is used: %v", err)
	}
}
