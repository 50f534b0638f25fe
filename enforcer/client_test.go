package enforcer

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

// telling is a judge by whom a text depends on something.
type telling bailiff.Judgement

func (t telling) Decide(context.Context, bailiff.Request, bailiff.Circumstances) bailiff.Judgement {
	j := bailiff.Judgement(t)
	if j.Decision.Backend.Name == "" {
		j.Decision = allow()
	}
	return j
}

func TestWhatAClientRunsItselfIsNamedUnlessItIsLookedAtInTheClientsFolder(t *testing.T) {
	t.Parallel()
	own, other := bailiff.Credential(uint32(os.Geteuid())), bailiff.Credential(uint32(os.Geteuid())+1)
	modules := func(folder string) telling {
		return telling{Implied: []bailiff.Implied{{Kind: bailiff.ImpliedModules, Folder: folder}}, AllPaths: true}
	}
	whole := telling{Files: []string{"x.sh"}, Opens: []string{"y"}, Paths: []string{"/w/q", "y"}, AllPaths: true,
		Implied: []bailiff.Implied{{Kind: bailiff.ImpliedModules, Folder: "s"}, {Kind: bailiff.ImpliedSettings, Folder: "."}}}
	for name, c := range map[string]struct {
		judge        telling
		folder, peer string
		fault        error
		want         []string
	}{
		"in the same folder": {judge: whole, folder: "1:2", peer: own},
		"in another one":     {judge: whole, folder: "1:3", peer: own, want: []string{"x.sh", "y", "/w/q", "modules in s"}},
		"where nothing can be looked at": {judge: whole, folder: "1:2", peer: own, fault: errors.New("gone"),
			want: []string{"x.sh", "y", "/w/q", "modules in s"}},
		"nothing, in another folder":       {judge: telling{AllPaths: true}, folder: "1:3", peer: own},
		"what it opens, in another folder": {judge: telling{Opens: []string{"y"}}, folder: "1:3", peer: own, want: []string{"y"}},
		"paths, in another folder":         {judge: telling{Paths: []string{"q"}}, folder: "1:3", peer: own, want: []string{"q"}},
		"modules, in another folder":       {judge: modules("."), folder: "1:3", peer: own, want: []string{"modules in ."}},
		"modules of no folder":             {judge: modules("$"), folder: "1:3", peer: own},
		"where no folder is told":          {judge: whole, peer: own, want: []string{"x.sh"}},
		"in the user's home":               {judge: telling{Files: []string{"~/x"}}, folder: "1:2", peer: own},
		"in another user's home":           {judge: telling{Files: []string{"~/x"}}, folder: "1:2", peer: other, want: []string{"~/x"}},
		"in a home by TCP": {judge: telling{Paths: []string{"~/x"}}, folder: "1:2", peer: bailiff.LocalTCP,
			want: []string{"~/x"}},
		"modules in another user's home": {judge: modules("~/m"), folder: "1:2", peer: other, want: []string{"modules in ~/m"}},
		"missing above the folder":       {judge: telling{Files: []string{"../x"}}, folder: "1:2", peer: own, want: []string{"../x"}},
		"missing elsewhere":              {judge: telling{Opens: []string{"/opt/x"}}, folder: "1:2", peer: own, want: []string{"/opt/x"}},
		"missing in the folder":          {judge: telling{Opens: []string{"/w/x", "y"}}, folder: "1:2", peer: own},
		"names elsewhere":                {judge: telling{Opens: []string{"/opt/*.py"}}, folder: "1:2", peer: own},
		"modules elsewhere":              {judge: modules("/opt"), folder: "1:2", peer: own, want: []string{"modules in /opt"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(b *bench) {
				b.fakeBackend.resolve = func(context.Context, []string) (bailiff.Ground, error) {
					return bailiff.Ground{Folder: "1:2"}, c.fault
				}
			})
			b.config.Decider = c.judge
			req := request("true")
			req.Session.Platform, req.Folder, req.Peer, req.Args.Workdir = "cli", c.folder, c.peer, "/w"
			if d := b.Decide(t.Context(), req); !slices.Equal(d.Unread, c.want) || d.Decision.Outcome != bailiff.Allow {
				t.Errorf("unread are %q, want %q; it is %+v", d.Unread, c.want, d.Decision)
			}
		})
	}
}

func TestAFileThatIsMissingIsSeenByWhatIsThereBesideIt(t *testing.T) {
	t.Parallel()
	m := judged{Judgement: bailiff.Judgement{Files: []string{"/run.sh"}}}
	for _, p := range []string{"/w/a/x.sh", "/opt/p/main.py", "/w/package.json", "/w/run.sh", "/top.sh"} {
		m.contents = append(m.contents, bailiff.Content{File: bailiff.File{Path: p}, Kind: bailiff.ContentText})
	}
	for p, want := range map[string]bool{
		"/opt/p/json.py": true, "/opt/p/k/json.py": true, "/opt/json.py": false, "/w/a/../../x.sh": false,
		"/opt/p/../x.py": false, "/package.json": true, "/run.sh": false, "/else": false,
	} {
		if got := m.sees(p); got != want {
			t.Errorf("%s is seen: %v, want %v", p, got, want)
		}
	}
}

func TestWhatAnApprovalCannotHoldIsNamedOnceHoweverOftenItIsLookedAt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.config.Decider = telling{Decision: allow(ask), AllPaths: true, Implied: []bailiff.Implied{
		{Kind: bailiff.ImpliedPackages, Folder: "ve"}, {Kind: bailiff.ImpliedModules, Folder: "a[b]"},
		{Kind: bailiff.ImpliedModules, Folder: "s"}}}
	m := b.Enforcer.judge(t.Context(), request("true"))
	defer m.release()
	for range 2 {
		if err := b.look(t.Context(), m, false); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"the packages of ve", "modules in a[b]"}; !slices.Equal(m.unbound, want) {
		t.Errorf("named are %q, want %q", m.unbound, want)
	}
}
