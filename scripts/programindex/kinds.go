package main

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs/index"
)

// strictness orders kinds: of several packages with a name the last counts.
var strictness = []index.Kind{"", index.Other, index.Plays, index.Reads, index.Builds, index.Edits, index.Network, index.Administers,
	index.ScansOrAttacks}

// byTag are the kinds by tags of packages; the first that a package has counts.
var byTag = []struct {
	tag  string
	kind index.Kind
}{
	{"network::scanner", index.ScansOrAttacks},
	{"security::forensics", index.Reads},
	{"use::gameplaying", index.Plays},
	{"admin::", index.Administers},
	{"use::configuring", index.Administers},
	{"network::server", index.Network},
	{"network::client", index.Network},
	{"use::downloading", index.Network},
	{"use::transmission", index.Network},
	{"devel::", index.Builds},
	{"role::devel-lib", index.Builds},
	{"use::editing", index.Edits},
	{"use::converting", index.Edits},
	{"use::compressing", index.Edits},
	{"use::viewing", index.Reads},
	{"use::searching", index.Reads},
	{"use::browsing", index.Reads},
	{"use::calculating", index.Reads},
	{"use::analysing", index.Reads},
	{"use::comparing", index.Reads},
	{"use::monitor", index.Reads},
	{"use::playing", index.Reads},
}

// bySection are the kinds by the sections of packages. The sections of which a name tells nothing are not among them.
var bySection = map[string]index.Kind{
	"admin": index.Administers, "kernel": index.Administers, "database": index.Administers, "comm": index.Network, "net": index.Network,
	"mail": index.Network, "news": index.Network, "web": index.Network, "httpd": index.Network, "devel": index.Builds,
	"libdevel": index.Builds, "debug": index.Builds, "python": index.Builds, "perl": index.Builds, "ruby": index.Builds,
	"javascript": index.Builds, "rust": index.Builds, "golang": index.Builds, "java": index.Builds, "haskell": index.Builds,
	"ocaml": index.Builds, "php": index.Builds, "lisp": index.Builds, "gnu-r": index.Builds, "interpreters": index.Builds,
	"vcs": index.Builds, "cli-mono": index.Builds, "embedded": index.Builds, "electronics": index.Edits, "graphics": index.Edits,
	"sound": index.Edits, "video": index.Edits, "text": index.Edits, "tex": index.Edits, "editors": index.Edits, "fonts": index.Edits,
	"doc": index.Reads, "science": index.Reads, "math": index.Reads, "education": index.Reads, "games": index.Plays,
}

// kindOf is the kind of a program by the folder where it lies and the package that it is of, which is written as "section/name".
func kindOf(folder, name, of string, packages map[string]about) index.Kind {
	switch folder {
	case "sbin":
		return index.Administers
	case "games":
		return index.Plays
	}
	is := packages[of[strings.LastIndexByte(of, '/')+1:]]
	if slices.Contains(is.tags, "network::scanner") && !slices.Contains(is.tags, "use::scanning") {
		is.tags = slices.DeleteFunc(slices.Clone(is.tags), func(tag string) bool { return tag == "network::scanner" })
	}
	for _, rule := range byTag {
		if slices.ContainsFunc(is.tags, func(tag string) bool { return strings.HasPrefix(tag, rule.tag) }) && serves(rule.tag, name, of) {
			return rule.kind
		}
	}
	if kind, known := bySection[is.section]; known {
		return kind
	}
	return index.Other
}

// serves says that a tag means the program. That of a server is the package's, and means a program that it is called by or whose name
// says so.
func serves(tag, name, of string) bool {
	return tag != "network::server" || strings.HasSuffix(name, "d") || strings.HasSuffix(name, "-server") || strings.HasSuffix(of, "/"+name)
}
