package chat

import (
	"reflect"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

func TestADirectMessageIsACommandOfItsSession(t *testing.T) {
	k := talking(t, &court{}, nil)
	k.direct(`echo "a" 'b' “c”`)
	k.shows(Place{Chat: "D1"}, "```ran echo \"a\" 'b' “c”```")
	want := bailiff.Request{ID: "slack:D1:m1", Tool: bailiff.Terminal, Args: bailiff.Args{Command: `echo "a" 'b' “c”`},
		Session: bailiff.Session{ID: "slack:dm:D1", Platform: "slack", ChatType: "dm", ChatID: "D1", UserID: "U1", UserName: "Ana"},
		Env:     []string{"TOKEN"}, WaitSeconds: wait, Caller: "chat", Peer: "slack:U1"}
	if got := k.court.requests(); len(got) != 1 || !reflect.DeepEqual(got[0], want) {
		t.Errorf("it asked for %+v, want %+v", got, want)
	}
	k.settles()
}
