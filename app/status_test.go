package app

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/catalogue"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/judging/offline"
)

func TestStatusShowsWhatEachPlatformAndChatGetsAndThatIsWhatTheyGet(t *testing.T) {
	t.Parallel()
	_, policies := shippedWith(t, "chats: {}", `chats:
      telegram/-100: {take: ready, limits: {idle_seconds: 600}, persistent: {bubblewrap: true}}`)
	s := startSidecar(t, policies, keepNoneReady,
		`backends: {docker: {host: "unix:///nowhere/engine.sock", image: "debian:12"}, bubblewrap: {}}`)
	status, err := s.operators(t).Status(t.Context())
	must(t, err)
	want := api.ChatStatus{Chat: "-100", PlatformStatus: api.PlatformStatus{
		Platform: "telegram", Backend: "bubblewrap", Isolated: true, IdleSeconds: 600, MaxSeconds: 86400, Persistent: true}}
	if len(status.Chats) != 1 || !reflect.DeepEqual(status.Chats[0], want) {
		t.Errorf("the chats are %+v, want %+v", status.Chats, want)
	}
	at := slices.IndexFunc(status.Platforms, func(p api.PlatformStatus) bool { return p.Platform == "telegram" })
	if p := status.Platforms[at]; p.Backend != "docker" || p.Image != "debian:12" || p.Message != "Backend docker is not ready." {
		t.Errorf("the platform is %+v", p)
	}
	own := inChat("s1", "true")
	own.Session.ChatID = "-100"
	if a := ask(t, s.client(t), own); a.Status != bailiff.Completed || a.Backend != "bubblewrap" || a.Decision.Backend.IdleSeconds != 600 {
		t.Errorf("the chat is answered %+v", a)
	}
	if a := ask(t, s.client(t), inChat("s2", "true")); a.Status != bailiff.Unavailable || a.Backend != "docker" ||
		!strings.Contains(a.Message, "/nowhere/engine.sock") {
		t.Errorf("another chat is answered %+v", a)
	}
}

// Docker's engine knows its own runtime by a second name.
func TestTheStatusNamesTheRuntimeAndWhatIsWrongWithIt(t *testing.T) {
	t.Parallel()
	_, policies := shippedWith(t, "chats: {}", `chats:
      telegram/second: {runtimes: {docker: io.containerd.runc.v2}}
      telegram/lacking: {runtimes: {docker: never}}
      telegram/foreign: {runtimes: {docker: crun}}`)
	s := startSidecar(t, policies, keepNoneReady, `backends: {docker: {image: "`+sandboxImage+`", runtime: runc,
  runtimes_allowed: [io.containerd.runc.v2, never]}}`)
	status, err := s.operators(t).Status(t.Context())
	must(t, err)
	if !slices.ContainsFunc(status.Warnings, func(w string) bool {
		return strings.HasPrefix(w, "backend docker runs nothing by runtime never: ") && strings.Contains(w, `the engine has no "never"`)
	}) {
		t.Errorf("the warnings are %q", status.Warnings)
	}
	at := slices.IndexFunc(status.Platforms, func(p api.PlatformStatus) bool { return p.Platform == "telegram" })
	if p := status.Platforms[at]; p.Runtime != "runc" || p.Message != "" || p.Place() != "docker "+sandboxImage+", runtime runc" {
		t.Errorf("the platform is %+v", p)
	}
	for chat, want := range map[string]struct{ runtime, message, rule string }{
		"any":     {runtime: "runc"},
		"second":  {runtime: "io.containerd.runc.v2"},
		"lacking": {runtime: "never", message: `the engine has no "never"`},
		"foreign": {runtime: "crun", message: `does not allow "crun"`, rule: "floor.runtime"},
	} {
		at := slices.IndexFunc(status.Chats, func(c api.ChatStatus) bool { return c.Chat == chat })
		if at >= 0 && (status.Chats[at].Runtime != want.runtime || !strings.Contains(status.Chats[at].Message, want.message)) {
			t.Errorf("chat %s is %+v", chat, status.Chats[at])
		}
		req := inChat(chat, "true")
		req.Session.ChatID = chat
		a := ask(t, s.client(t), req)
		switch {
		case want.rule != "":
			if a.Status != bailiff.Refused || a.Decision.Denials[0].Rule != want.rule {
				t.Errorf("chat %s is answered %+v, want a denial by %s", chat, a, want.rule)
			}
		case want.message != "":
			if a.Status != bailiff.Unavailable || !strings.Contains(a.Message, want.message) {
				t.Errorf("chat %s is answered %+v, want it to be unavailable", chat, a)
			}
		case a.Status != bailiff.Completed || a.Decision.Backend.Runtime != want.runtime:
			t.Errorf("chat %s is answered %+v, want it to run by %s", chat, a, want.runtime)
		}
	}
	if live := listed(t, s); !slices.Equal(live, []string{"io.containerd.runc.v2", "runc"}) {
		t.Errorf("live are sandboxes of %v", live)
	}
}

// listed are the runtimes of the sandboxes that operators see.
func listed(t *testing.T, s *running) (runtimes []string) {
	t.Helper()
	all, err := s.operators(t).Sandboxes(t.Context())
	must(t, err)
	for _, one := range all {
		runtimes = append(runtimes, one.Runtime)
	}
	slices.Sort(runtimes)
	return runtimes
}

func TestTheShippedTablesSayWhatEachTechnologysSandboxesAreLike(t *testing.T) {
	t.Parallel()
	policies, err := offline.OpenPolicies(t.Context(), config.Default(catalogue.All()))
	must(t, err)
	rows := tableNames(t.Context(), policies, "sandboxes")
	if known := names(catalogue.All()); !slices.Equal(rows, known) {
		t.Errorf("the table has rows for %v, and there are %v", rows, known)
	}
}
