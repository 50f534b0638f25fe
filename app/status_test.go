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
	"github.com/bailiff-dev/bailiff/internal/offline"
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

func TestTheShippedTablesSayWhatEachTechnologysSandboxesAreLike(t *testing.T) {
	t.Parallel()
	policies, err := offline.OpenPolicies(t.Context(), config.Default(catalogue.All()))
	must(t, err)
	rows := tableNames(t.Context(), policies, "sandboxes")
	if known := names(catalogue.All()); !slices.Equal(rows, known) {
		t.Errorf("the table has rows for %v, and there are %v", rows, known)
	}
}
