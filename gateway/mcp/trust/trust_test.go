package trust_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway/mcp/trust"
)

func open(t *testing.T, dir string) (s *trust.Store, changed *[]string) {
	t.Helper()
	changed = &[]string{}
	s, err := trust.Open(dir, slog.New(slog.DiscardHandler), func(server string) { *changed = append(*changed, server) })
	if err != nil {
		t.Fatal(err)
	}
	return s, changed
}

func listing(version string, tools ...string) api.MCPListing {
	l := api.MCPListing{Command: []string{"serve"}, Files: []bailiff.File{{Path: "s", SHA256: "ab"}}, Name: "files", Version: version,
		Tools: []api.MCPTool{}}
	for _, tool := range tools {
		name, description, _ := strings.Cut(tool, " ")
		l.Tools = append(l.Tools, api.MCPTool{Name: name, Definition: fmt.Appendf(nil, `{"description":%q,"name":%q}`, description, name)})
	}
	return l
}

func see(t *testing.T, s *trust.Store, server string, l api.MCPListing, want bool) {
	t.Helper()
	if trusted, err := s.See(server, l); err != nil || trusted != want {
		t.Fatalf("%s %s is trusted: %v, %v; want %v", server, l.Version, trusted, err, want)
	}
}

func TestAYesHoldsForWhatWasShownAndOutlivesTheSidecar(t *testing.T) {
	dir := t.TempDir()
	s, changed := open(t, dir)
	first := listing("1", "read of files")
	see(t, s, "files", first, false)
	if _, err := s.Trust("files", "another", "ana"); !errors.Is(err, trust.ErrChanged) {
		t.Errorf("a yes to something else: %v", err)
	}
	if _, err := s.Trust("none", trust.Digest(first), "ana"); !errors.Is(err, api.ErrUnknown) {
		t.Errorf("a yes to what was not seen: %v", err)
	}
	if m, err := s.Trust("files", trust.Digest(first), "ana"); err != nil || !m.Trusted || m.By != "ana" || len(*changed) != 1 {
		t.Fatalf("after a yes: %+v, %v, told of %v", m, err, *changed)
	}
	s, _ = open(t, dir)
	see(t, s, "files", first, true)
	see(t, s, "other", first, false)
	if !s.Names("files", "read") || s.Names("files", "write") || s.Names("other", "read") || s.Names("none", "read") {
		t.Error("it names other tools than those of a server that is trusted")
	}
	see(t, s, "files", listing("2", "read of all files", "write files"), false)
	if s.Names("files", "read") {
		t.Error("a server that changed is trusted")
	}
	m, err := s.Show("files")
	if err != nil || m.Trusted || len(m.Changes) != 3 || m.Changes[0] != (api.MCPChange{What: "version", Before: "1", After: "2"}) ||
		!strings.Contains(m.Changes[1].After, "of all files") || m.Changes[2].Before != "" || m.Changes[2].What != "tool write" {
		t.Errorf("different is %+v, %v", m.Changes, err)
	}
	see(t, s, "files", first, true) // which a person said yes to
	if err := s.Forget("files"); err != nil {
		t.Fatal(err)
	}
	s, _ = open(t, dir)
	see(t, s, "files", first, false)
	if all := s.List(); len(all) != 2 || all[0].Server != "files" || all[0].Trusted {
		t.Errorf("the list is %+v", all)
	}
}

func TestEachThingThatDiffersIsTold(t *testing.T) {
	before := listing("1", "read a", "read b", "write c", "list d")
	for name, c := range map[string]struct {
		change func(*api.MCPListing)
		want   []string
	}{
		"nothing":            {func(*api.MCPListing) {}, nil},
		"title":              {func(l *api.MCPListing) { l.Title = "Files" }, []string{"title"}},
		"folder":             {func(l *api.MCPListing) { l.Workdir = "/srv" }, []string{"working folder"}},
		"variables":          {func(l *api.MCPListing) { l.Env = []string{"TOKEN"} }, []string{"variables"}},
		"backend":            {func(l *api.MCPListing) { l.Backend = "local" }, []string{"backend"}},
		"words of a command": {func(l *api.MCPListing) { l.Command = []string{"serve", "a b"} }, []string{"command"}},
		"one of two of a name": {func(l *api.MCPListing) { l.Tools[1].Definition = []byte(`{"name":"read","description":"x"}`) },
			[]string{"tool read, number 2 of this name"}},
		"one of two of a name less": {func(l *api.MCPListing) { l.Tools = append(l.Tools[:1:1], l.Tools[2:]...) },
			[]string{"tool read, number 2 of this name"}},
		"order": {func(l *api.MCPListing) { l.Tools[2], l.Tools[3] = l.Tools[3], l.Tools[2] }, []string{"order of the tools"}},
	} {
		s, _ := open(t, t.TempDir())
		see(t, s, "files", before, false)
		if _, err := s.Trust("files", trust.Digest(before), "ana"); err != nil {
			t.Fatal(err)
		}
		after := before
		after.Tools = slices.Clone(before.Tools)
		c.change(&after)
		see(t, s, "files", after, c.want == nil)
		m, err := s.Show("files")
		var told []string
		for _, change := range m.Changes {
			told = append(told, change.What)
		}
		if err != nil || !slices.Equal(told, c.want) {
			t.Errorf("%s: different are %q, want %q, %v", name, told, c.want, err)
		}
	}
}

func TestWhatClientsAndServersNameIsBounded(t *testing.T) {
	dir := t.TempDir()
	s, _ := open(t, dir)
	_, err := s.See("files", listing("1", "read "+strings.Repeat("x", 2<<20)))
	if err == nil || !strings.Contains(err.Error(), "1024 KiB") {
		t.Errorf("a list of 2 MiB: %v", err)
	}
	see(t, s, "s0", listing("1"), false)
	one, err := os.ReadFile(filepath.Join(dir, "s0.json"))
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i < 200; i++ {
		name := fmt.Sprint("s", i)
		if err := os.WriteFile(filepath.Join(dir, name+".json"), bytes.ReplaceAll(one, []byte("s0"), []byte(name)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, _ = open(t, dir)
	if _, err := s.See("more", listing("1")); err == nil || !strings.Contains(err.Error(), "--remove") {
		t.Errorf("one server too many: %v", err)
	}
	for name, want := range map[string]bool{"files": true, "a_b-1": true, "": false, "../x": false, "a.b": false, "-a": false,
		"ﬁles": false, strings.Repeat("a", 65): false} {
		if trust.IsName(name) != want {
			t.Errorf("%q may be a name: %v", name, !want)
		}
	}
}
