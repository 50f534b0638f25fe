package matrix_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/gateway/chat/matrix"
	"github.com/bailiff-dev/bailiff/gateway/chat/matrix/matrixtest"
)

func TestACheckNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	atEach(t, func(t *testing.T, h home) {
		ana, ben := h.person("ana"), h.person("ben")
		fine, without, secret, quiet := h.room("ops", ana), ana.NewRoom("not there"), ana.NewEncrypted(h.bailiff.ID), h.room("quiet", ana)
		h.bailiff.Join(secret)
		var levels map[string]any
		ana.Do("GET", "client/v3/rooms/"+quiet+"/state/m.room.power_levels/", nil, &levels)
		levels["events_default"] = 50
		ana.SetState(quiet, "m.room.power_levels", levels)
		c := h.config()
		c.Approvals, c.Rooms = fine, []string{without, secret, quiet}
		found := h.open(t, c).Check(t.Context(), []chat.Person{{ID: ana.ID, Name: "ana"}, {ID: ben.ID, Name: "ben"}})
		want := []struct{ what, fault string }{
			{"homeserver", ""}, {"token", ""}, {"room " + fine, ""}, {"room " + without, "is not in the room: invite it there"},
			{"room " + secret, "is encrypted"}, {"room " + quiet, "needs 50 to send events of the type m.room.message"},
			{"ana (" + ana.ID + ") sees " + fine, ""}, {"ben (" + ben.ID + ") sees " + fine, "is not in the room: invite them"},
		}
		if len(found) != len(want) {
			t.Fatalf("found is %v", found)
		}
		for i, f := range found {
			if f.What != want[i].what || (f.Err == nil) != (want[i].fault == "") || f.Err != nil &&
				!strings.Contains(f.Err.Error(), want[i].fault) {
				t.Errorf("found is %q: %v, want %q", f.What, f.Err, want[i])
			}
		}
	})
}

func TestACheckNamesATokenAndAHomeserverOfNoUse(t *testing.T) {
	t.Parallel()
	server := matrixtest.New(t)
	server.Speaks("r0.6.1", "v1.3")
	c := home{server.Bailiff(), nil, nil}.config()
	c.Token = func() (bailiff.Secret, error) { return bailiff.NewSecret("wrong-4711"), nil }
	m, err := matrix.New(c)
	if err != nil {
		t.Fatal(err)
	}
	found := m.Check(t.Context(), []chat.Person{{ID: "@ana:example.test"}})
	if len(found) != 2 || found[0].Err == nil || !strings.Contains(found[0].Err.Error(), "1.4") || found[1].Err == nil ||
		!strings.Contains(found[1].Err.Error(), "matrix.token") || strings.Contains(fmt.Sprint(found), "4711") {
		t.Errorf("found is %v", found)
	}
}

func TestNewNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	if _, err := matrix.New(matrix.Config{}); err == nil || err.Error() != "matrix config lacks Log, Memory, Token, URL" {
		t.Errorf("it says %v", err)
	}
	c := home{bailiff: &matrixtest.Person{URL: "http://127.0.0.1:1"}}.config()
	c.Approvals = "#ops:example.com"
	if _, err := matrix.New(c); err == nil || !strings.Contains(err.Error(), "want its id") {
		t.Errorf("of an alias it says %v", err)
	}
}
