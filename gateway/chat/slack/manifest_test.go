package slack_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/bailiff-dev/bailiff/gateway/chat/slack"
)

// manifest is what an app of Slack's is made by, as far as it matters here.
type manifest struct {
	Features struct {
		Commands []struct{ Command string } `yaml:"slash_commands"`
	}
	OAuth struct {
		Scopes struct{ Bot []string }
	} `yaml:"oauth_config"`
	Settings struct {
		Events struct {
			Bot []string `yaml:"bot_events"`
		} `yaml:"event_subscriptions"`
		Interactivity struct {
			Enabled bool `yaml:"is_enabled"`
		}
		SocketMode bool `yaml:"socket_mode_enabled"`
	}
}

// The app that the documentation has people make may do what is used, and no more.
func TestTheManifestAsksForWhatIsUsed(t *testing.T) {
	t.Parallel()
	var m manifest
	if err := yaml.Unmarshal(file(t, "../../../examples/slack/manifest.yaml"), &m); err != nil {
		t.Fatal(err)
	}
	scopes := slices.Sorted(slices.Values(m.OAuth.Scopes.Bot))
	if want := slices.Sorted(maps.Keys(slack.Scopes)); !slices.Equal(scopes, want) {
		t.Errorf("its scopes are %q, want %q", scopes, want)
	}
	for _, event := range m.Settings.Events.Bot {
		if kind, message := strings.CutPrefix(event, "message."); !message || !slices.Contains(scopes, kind+":history") {
			t.Errorf("it is subscribed to %s, for which it has no scope", event)
		}
	}
	if len(m.Settings.Events.Bot) != 4 || !m.Settings.Interactivity.Enabled || !m.Settings.SocketMode || len(m.Features.Commands) != 1 ||
		m.Features.Commands[0].Command != "/bailiff" {
		t.Errorf("it is %+v", m)
	}
	page := string(file(t, "../../../docs/chat/slack.md"))
	for scope := range slack.Scopes {
		if !strings.Contains(page, "`"+scope+"`") {
			t.Errorf("the page does not say what %s is for", scope)
		}
	}
}

func file(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
