package offline

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// OpenChats are the platforms and chats of the tables whose ordinary requests run in a sandbox that
// is open to a network, or to a folder of the host that it may write.
func (j *Judge) OpenChats(ctx context.Context) (open []api.ChatStatus) {
	for _, table := range []string{"platforms", "chats"} {
		found, _, err := j.policies.Query(ctx, bailiff.Request{}, bailiff.Circumstances{}, "bailiff/tables/"+table)
		entries, ok := found.(map[string]any)
		if err != nil || !ok {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(entries)) {
			platform, chat, _ := strings.Cut(name, "/")
			if state, is := j.exposure(ctx, platform, chat); is {
				open = append(open, state)
			}
		}
	}
	return open
}

func (j *Judge) exposure(ctx context.Context, platform, chat string) (state api.ChatStatus, is bool) {
	terms := j.Decide(ctx, bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: "true"},
		Session: bailiff.Session{ID: "check", Platform: platform, ChatType: "dm", ChatID: chat}}).Backend
	state = api.ChatStatus{Chat: chat, PlatformStatus: api.PlatformStatus{Platform: platform, Backend: terms.Name}}
	if section := j.backends[terms.Name]; section == nil || !section.Isolated() {
		return state, false
	}
	state.Expose(terms)
	return state, state.Network != "" || len(state.Shared) > 0
}
