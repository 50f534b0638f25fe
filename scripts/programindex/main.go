// Command programindex makes the index of programs (internal/facts/programs/index) from the package data of the Debian that apt
// knows here, and from by-hand.txt.
//
//	go run ./scripts/programindex FILE
//
// apt fetches Contents and Packages into a folder that is gone afterwards; nothing is installed, and what apt has fetched before stays
// as it is. PROGRAMINDEX_SOURCES names another list of sources than that of Debian's own.
package main

import (
	"bufio"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff/internal/facts/programs/index"
)

//go:embed by-hand.txt
var byHand string

// configuration has apt fetch the lists of files, too.
const configuration = `Dir::State "%[1]s";
Dir::State::Lists "%[1]s/lists";
Dir::Cache "%[1]s/cache";
Dir::Etc::SourceList "%[2]s";
Dir::Etc::SourceParts "/dev/null";
Acquire::Languages "none";
Acquire::IndexTargets::deb::Contents-deb { MetaKey "$(COMPONENT)/Contents-$(ARCHITECTURE)"; ShortDescription "Contents";
  Description "$(RELEASE)/$(COMPONENT) Contents"; KeepCompressed "true"; };
`

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "programindex:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("want the file to write, not %q", args)
	}
	names, err := readByHand(byHand)
	if err != nil {
		return err
	}
	sources := cmp.Or(os.Getenv("PROGRAMINDEX_SOURCES"), "/etc/apt/sources.list.d/debian.sources")
	release, err := addPackaged(names, sources)
	if err != nil {
		return err
	}
	file, err := index.Write(head(release, len(names)), names)
	if err != nil {
		return err
	}
	return os.WriteFile(args[0], file, 0o644)
}

// head says where the names come from.
func head(release string, count int) string {
	return strings.Join([]string{
		fmt.Sprintf("An index of %d names of programs and their kinds. Made by make program-index on %s.",
			count, time.Now().UTC().Format(time.DateOnly)),
		"Sources: Contents and Packages of " + release + " (amd64 and all; names, sections and",
		"tags of packages, which are facts), and",
		"scripts/programindex/by-hand.txt, which was written for this project from the programs' manuals.",
		"Rules: a name of by-hand.txt has the kind that it has there; else what lies in sbin administers, and what lies in games",
		"or is of the section games plays; else the tags of the package tell its kind, and else its section. Of several packages the",
		"strictest counts.",
		"Licence: that of this project.",
	}, "\n")
}

// readByHand reads lines of a kind, a colon and names.
func readByHand(text string) (map[string]index.Kind, error) {
	names := map[string]index.Kind{}
	for n, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		kind, listed, found := strings.Cut(line, ": ")
		if !found || !slices.Contains(index.Kinds(), index.Kind(kind)) {
			return nil, fmt.Errorf("by-hand.txt:%d: want one of %q, a colon and names", n+1, index.Kinds())
		}
		for _, name := range strings.Fields(listed) {
			if other, twice := names[name]; twice && other != index.Kind(kind) {
				return nil, fmt.Errorf("by-hand.txt:%d: %s is of the kind %s above", n+1, name, other)
			}
			names[name] = index.Kind(kind)
		}
	}
	return names, nil
}

// addPackaged adds the names that packages have, as far as they are not there, and tells of which release the packages are.
func addPackaged(names map[string]index.Kind, sources string) (release string, err error) {
	dir, err := os.MkdirTemp("", "program-index-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	settings := filepath.Join(dir, "apt.conf")
	if err := os.WriteFile(settings, fmt.Appendf(nil, configuration, dir, sources), 0o600); err != nil {
		return "", err
	}
	apt := func(name string, args ...string) *exec.Cmd {
		c := exec.Command(name, args...)
		c.Env, c.Stderr = append(os.Environ(), "APT_CONFIG="+settings), os.Stderr
		return c
	}
	for _, folder := range []string{"lists/partial", "cache/archives/partial"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			return "", err
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil { // apt fetches as a user of its own
		return "", err
	}
	if _, err := apt("apt-get", "update").Output(); err != nil {
		return "", fmt.Errorf("apt-get update: %w", err)
	}
	targets, err := apt("apt-get", "indextargets", "--format", "$(CREATED_BY) $(CODENAME) $(FILENAME)").Output()
	if err != nil {
		return "", fmt.Errorf("apt-get indextargets: %w", err)
	}
	packages, releases := map[string]about{}, map[string]bool{}
	for _, wanted := range []string{"Packages", "Contents-deb"} {
		for line := range strings.Lines(string(targets)) {
			fields := strings.Fields(line)
			if len(fields) != 3 || fields[0] != wanted {
				continue
			}
			releases[fields[1]] = true
			if err := each(apt("/usr/lib/apt/apt-helper", "cat-file", fields[2]), func(in *bufio.Scanner) {
				if wanted == "Packages" {
					readPackages(in, packages)
				} else {
					readContents(in, packages, names)
				}
			}); err != nil {
				return "", err
			}
		}
	}
	var said []string
	for name := range releases {
		said = append(said, name)
	}
	slices.Sort(said)
	return "Debian " + strings.Join(said, ", "), nil
}

// each has the lines read that a program prints.
func each(c *exec.Cmd, read func(*bufio.Scanner)) error {
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	in := bufio.NewScanner(out)
	in.Buffer(nil, 1<<24)
	read(in)
	if err := errors.Join(in.Err(), c.Wait()); err != nil {
		return fmt.Errorf("%s: %w", c, err)
	}
	return nil
}

// about is what Packages say of a package.
type about struct {
	section string
	tags    []string
}

func readPackages(in *bufio.Scanner, packages map[string]about) {
	var name, key string
	var is about
	for in.Scan() {
		line := in.Text()
		if line == "" {
			packages[name], is = is, about{}
			continue
		}
		value := strings.TrimSpace(line)
		if !strings.HasPrefix(line, " ") {
			key, value, _ = strings.Cut(line, ": ")
		}
		switch key {
		case "Package":
			name = value
		case "Section":
			is.section = value[strings.LastIndexByte(value, '/')+1:]
		case "Tag":
			for tag := range strings.SplitSeq(value, ",") {
				is.tags = append(is.tags, strings.TrimSpace(tag))
			}
		}
	}
}

// folders are those in which programs lie that are started by their names.
var folders = []string{"bin", "sbin", "games", "usr/bin", "usr/sbin", "usr/games"}

func readContents(in *bufio.Scanner, packages map[string]about, names map[string]index.Kind) {
	strict := map[string]index.Kind{}
	for in.Scan() {
		path, in, found := strings.Cut(in.Text(), " ")
		dir, name := filepath.Split(path)
		if !found || name == "" || !slices.Contains(folders, strings.TrimSuffix(dir, "/")) {
			continue
		}
		for of := range strings.SplitSeq(strings.TrimSpace(in), ",") {
			kind := kindOf(filepath.Base(filepath.Clean(dir)), name, of, packages)
			if slices.Index(strictness, kind) > slices.Index(strictness, strict[name]) {
				strict[name] = kind
			}
		}
	}
	for name, kind := range strict {
		if names[name] == "" {
			names[name] = kind
		}
	}
}
