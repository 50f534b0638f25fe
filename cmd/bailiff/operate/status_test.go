package operate

import (
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/api"
)

func TestTheStatusHasALineForEachPlatformChatAndService(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	status := api.Status{
		Listeners: []api.ListenerStatus{{Name: "agent", Platforms: []string{"cli", "slack"}}, {Name: "me", Platforms: []string{"email"}}},
		Platforms: []api.PlatformStatus{{Platform: "telegram", Backend: "docker", Image: "debian:12",
			Message: "Backend docker is not ready."},
			{Platform: "cli", Backend: "bubblewrap", IdleSeconds: 600, Network: "egress", Egress: []string{"python", "github"},
				Shared: []string{"/srv/project"}},
			{Platform: "slack", Backend: "docker", Runtime: "runsc", IdleSeconds: 600, Network: "full"}},
		Egress: api.EgressStatus{Open: 1, Opened: 12, Refused: 3, Sent: 1832, Received: 90112, Direct: true},
		Replicas: []api.ReplicaStatus{{Name: "one", Self: true, Address: "one:7411", State: "lives", Homes: 7, Revision: "abc"},
			{Name: "two", State: "silent", SilentSeconds: 90}},
		Chats: []api.ChatStatus{{Chat: "-100", PlatformStatus: api.PlatformStatus{
			Platform: "telegram", Backend: "bubblewrap", IdleSeconds: 600, MaxSeconds: 86400, Persistent: true}}},
		Chat: []api.ServiceStatus{
			{Service: "telegram", Approvals: true, At: "-1001", Commands: true},
			{Service: "slack", Approvals: true, At: "C1", Message: "gone"},
			{Service: "discord", Commands: true},
		},
	}
	status.Platforms = append(status.Platforms, api.PlatformStatus{Platform: "matrix"}, api.PlatformStatus{Platform: "signal"})
	printStatus(&text, status, false)
	for _, line := range []string{
		"chat\ttelegram/-100\tbubblewrap\tgoes after 10m without use, after 24h in any case; its files stay\n",
		"platform\tcli\tbubblewrap\tgoes after 10m without use; networked: python github; shared: /srv/project\n",
		"platform\tslack\tdocker, runtime runsc\tgoes after 10m without use; networked: full\n",
		"egress\t1 open\t12 opened and 3 refused since the start, 1832 bytes sent and 90112 received, by the proxy or without it\n",
		"platform\ttelegram\tdocker debian:12\tBackend docker is not ready.\n",
		"service\ttelegram\tapprovals in -1001, commands\tconnected\n",
		"service\tslack\tapprovals in C1\treaches nobody: gone\n",
		"service\tdiscord\tcommands\tconnected\n",
		"replica\tone\tone:7411\tlives, this one; serves 7 sessions and users; policies abc\n",
		"replica\ttwo\tserves what comes to it\tsilent for 1m30s; serves 0 sessions and users; policies \n",
	} {
		if !strings.Contains(text.String(), line) {
			t.Errorf("printed is %s, want a line %q", text.String(), line)
		}
	}
	const hidden, shown = "platform\t2 more\tno listener speaks for matrix, signal; --all shows them\n", "platform\tmatrix\t"
	if !strings.Contains(text.String(), hidden) || strings.Contains(text.String(), shown) {
		t.Errorf("printed is %s, want a line %q", text.String(), hidden)
	}
	text.Reset()
	status.Listeners = append(status.Listeners, api.ListenerStatus{Platforms: []string{"messaging"}})
	printStatus(&text, status, false)
	if !strings.Contains(text.String(), shown) || strings.Contains(text.String(), " more\t") {
		t.Errorf("with a listener for all of messaging it is %s", text.String())
	}
	text.Reset()
	status.Listeners = nil
	printStatus(&text, status, true)
	if !strings.Contains(text.String(), shown) || strings.Contains(text.String(), " more\t") {
		t.Errorf("of all it is %s", text.String())
	}
}
