package egress

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/cmd/bailiff/auditlog"
)

// connectionLine is a line of the decision log about a connection.
func connectionLine(session, second, connection string) []byte {
	return fmt.Appendf(nil, `{"decision_id":"d","timestamp":"2026-01-31T08:00:%sZ","custom":{"event":"connection","session":%q,`+
		`"backend":"docker","connection":%s}}`, second, session, connection)
}

var connectionLines = [][]byte{
	connectionLine("s", "01", `{"what":"opened","protocol":"https","host":"b.test","port":443,"method":"GET","path":"/a"}`),
	connectionLine("s", "02", `{"what":"closed","protocol":"https","host":"b.test","port":443,"sent":1,"received":20}`),
	connectionLine("s", "03", `{"what":"refused","protocol":"http","host":"b.test","port":80,"rule":"egress.not_in_table"}`),
	connectionLine("s", "05", `{"what":"refused","protocol":"http","host":"b.test","port":80,"rule":"egress.not_in_table"}`),
	connectionLine("other", "04", `{"what":"refused","protocol":"tcp","host":"a.test\u001b[2J","port":22,"rule":"floor.address"}`),
	[]byte(`{"decision_id":"d","timestamp":"2026-01-31T08:00:09Z","custom":{"event":"decision","session":"s"}}`),
}

func hostsOf(t *testing.T, wanted connectionsWanted) []reachedHost {
	t.Helper()
	all := hosts{}
	for _, line := range connectionLines {
		if err := all.read(line, wanted); err != nil {
			t.Fatal(err)
		}
	}
	return all.rows(wanted.refused)
}

func TestHostsAreListedWithWhatBecameOfTheirConnections(t *testing.T) {
	t.Parallel()
	at := func(second int) time.Time { return time.Date(2026, 1, 31, 8, 0, second, 0, time.UTC) }
	want := []reachedHost{
		{Host: "b.test", Port: 80, Refused: 2, Rules: []string{"egress.not_in_table"}, Last: at(5)},
		{Host: "b.test", Port: 443, Opened: 1, Rules: []string{}, Sent: 1, Received: 20, Last: at(2)},
	}
	if got := hostsOf(t, connectionsWanted{session: "s"}); !reflect.DeepEqual(got, want) {
		t.Errorf("of the session are listed %+v, want %+v", got, want)
	}
	if got := hostsOf(t, connectionsWanted{}); len(got) != 3 {
		t.Errorf("of all sessions are listed %+v, want three", got)
	}
	if got := hostsOf(t, connectionsWanted{host: "b.test", refused: true}); !reflect.DeepEqual(got, want[:1]) {
		t.Errorf("refused at the host are listed %+v, want %+v", got, want[:1])
	}
}

func TestAHostThatAProgramNamedCannotWriteToTheTerminal(t *testing.T) {
	t.Parallel()
	var printed strings.Builder
	printHosts(&printed, hostsOf(t, connectionsWanted{}))
	for _, line := range connectionLines {
		if err := auditlog.PrintEvent(&printed, "table", line); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Contains(printed.String(), "\x1b") {
		t.Errorf("a control character is printed: %q", printed.String())
	}
}

func TestAnEventOfAConnectionIsOneReadableLine(t *testing.T) {
	t.Parallel()
	var printed strings.Builder
	for _, line := range connectionLines[:3] {
		if err := auditlog.PrintEvent(&printed, "table", line); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{
		"opened https b.test:443 GET /a\n", "closed https b.test:443 1 byte sent, 20 received\n",
		"refused http b.test:80 (egress.not_in_table)\n",
	} {
		if !strings.Contains(printed.String(), want) {
			t.Errorf("%q is not in %q", want, printed.String())
		}
	}
}
