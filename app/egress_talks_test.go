package app

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/network/egress"
)

func TestTheStatusTellsWhatSessionsTalkedTo(t *testing.T) {
	t.Parallel()
	event := func(what, session, host, rule string, sent int64) egress.Event {
		return egress.Event{What: what, Rule: rule, Sent: sent, Connection: bailiff.Connection{Host: host, Port: 443,
			Session: bailiff.Session{ID: session}}}
	}
	var of talks
	for _, e := range []egress.Event{
		event(egress.Opened, "a", "one.test", "", 0), event(egress.Refused, "b", "two.test", "egress.not_in_table", 0),
		event(egress.Closed, "a", "one.test", "", 5), event(egress.Refused, "a", "two.test", "floor.address", 0),
	} {
		of.add(e)
	}
	got := of.list()
	for i := range got {
		if time.Since(got[i].Last) > time.Hour {
			t.Errorf("%s talked last at %s", got[i].Session, got[i].Last)
		}
		got[i].Last = time.Time{}
	}
	want := []api.EgressSession{
		{Session: "a", Hosts: []api.EgressHost{{Host: "one.test", Port: 443, Opened: 1, Sent: 5},
			{Host: "two.test", Port: 443, Refused: 1, Rule: "floor.address"}}},
		{Session: "b", Hosts: []api.EgressHost{{Host: "two.test", Port: 443, Refused: 1, Rule: "egress.not_in_table"}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("listed is %+v, want %+v", got, want)
	}
	for n := range 1000 {
		of.add(event(egress.Refused, "a", fmt.Sprintf("h%d.test", n), "egress.not_in_table", 0))
		of.add(event(egress.Opened, fmt.Sprint("s", n), "one.test", "", 0))
		of.add(event(egress.Opened, "a", "one.test", "", 0))
	}
	got = of.list()
	if len(got) != mostTalks || got[0].Session != "a" || len(got[0].Hosts) != mostTalkHosts || got[0].More != 1000-(mostTalkHosts-2) ||
		got[0].Hosts[0].Opened != 1001 {
		t.Errorf("of many are listed %d, first %+v", len(got), got[0])
	}
}
