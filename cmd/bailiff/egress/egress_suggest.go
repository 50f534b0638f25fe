package egress

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/judging/offline"
	"github.com/bailiff-dev/bailiff/internal/network/reach"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
)

func newEgressSuggest(configPath *string) *cobra.Command {
	var since, session, format string
	cmd := &cobra.Command{
		Use:   "suggest",
		Short: "Print rows for the hosts that were refused or approved, and a test of them",
		Long: `Reads from the decision log which hosts and requests the policies refused for want of a
row, and which people approved, and prints rows that would let them through and a test of
these in Rego. Nothing is changed: strike out what is not to be reached, and put the rest
into a folder of your own policies. A host that was refused as a whole gets a row for
reading alone, since it is not known what would have been sent. What people denied, and
what no row opens, is left out. Of the rest the 20 rows are printed that were wanted most
often. A sandbox chooses the names that it tries: one that looks like a host that is known
is marked.

Exit status: 0, or 1 if the log or the policies cannot be read.`,
		Example: `  bailiff egress suggest --since 168h
  bailiff egress suggest --session chat-42 --output json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := offline.LoadConfig(*configPath)
			if err != nil {
				return err
			}
			from, err := cli.Moment(since, time.Now())
			if err != nil {
				return err
			}
			wanted, err := wantedHosts(cmd.Context(), cfg, from, session)
			if err != nil {
				return err
			}
			policies, err := offline.OpenPolicies(cmd.Context(), cfg)
			if err != nil {
				return err
			}
			floor := reach.NewFloor(cfg.Egress.Own, reach.MachineAddresses)
			s := wanted.suggestion(policies.Destinations(), func(address netip.Addr, port int) bool {
				return floor.CheckAll([]netip.Addr{address}, uint16(port), true) != nil
			})
			return cli.Show(cmd, format, s, s.print)
		},
	}
	cmd.Flags().StringVar(&since, "since", "24h", "only events from this time on, such as 90m (ago), 2026-01-31 or 2026-01-31T08:00:00Z")
	cmd.Flags().StringVar(&session, "session", "", "only those of this session")
	cli.OutputFlag(cmd, &format)
	return cmd
}

// wantedHosts reads the log from a time on.
func wantedHosts(ctx context.Context, cfg *config.Config, from time.Time, session string) (wanted, error) {
	found := wanted{hosts: map[destinationKey]*wantedHost{}, denied: map[string]bool{}}
	err := audit.Tail(ctx, cfg.StateDir, audit.Selection{Last: math.MaxInt, Since: from}, func(line []byte) error {
		l, err := api.ReadLine(line)
		if err != nil {
			return fmt.Errorf("reading an event: %w", err)
		}
		if session == "" || l.Custom.Session == session {
			found.read(l)
		}
		return nil
	})
	return found, err
}

// rowless are the rules that refuse for want of a row.
var rowless = []string{"egress.not_in_table", "egress.address", "egress.not_this_request", "egress.not_judged", "egress.new_host"}

// wanted is what connections lacked a row for.
type wanted struct {
	hosts map[destinationKey]*wantedHost
	// denied are the questions to which people said no.
	denied map[string]bool
}

type destinationKey struct {
	host, protocol string
	port           int
}

// wantedHost is what was wanted of a host and port.
type wantedHost struct {
	destinationKey
	// sent are the methods, other than those that read, with the paths that they had.
	sent      map[string]map[string]bool
	platforms map[string]bool
	// refused are the events of refusals, by the question that they waited for.
	refused  map[string]int
	approved int
}

// mostPaths bounds the paths of a row.
const mostPaths = 20

// read notes an event.
func (w wanted) read(l api.Line) {
	if a := l.Custom.Approval; a != nil && a.State == bailiff.ApprovalDenied {
		w.denied[a.ID] = true
	}
	c := l.Custom.Connection
	if c == nil {
		return
	}
	approved := c.What == "opened" && c.Approval != ""
	if !approved && (c.What != "refused" || !slices.Contains(rowless, c.Rule)) || !isPlain(*c) {
		return
	}
	if c.Port == 0 { // the name was looked up, and no port is known
		c.Port, c.Protocol = 443, "https"
	}
	key := destinationKey{c.Host, c.Protocol, c.Port}
	one := w.hosts[key]
	if one == nil {
		one = &wantedHost{key, map[string]map[string]bool{}, map[string]bool{}, map[string]int{}, 0}
		w.hosts[key] = one
	}
	if platform := l.ReadInput().Session.Platform; platform != "" {
		one.platforms[platform] = true
	}
	if approved {
		one.approved++
	} else {
		one.refused[c.Approval] += 1 + c.More
	}
	if c.Method == "" || c.Method == "GET" || c.Method == "HEAD" {
		return
	}
	if one.sent[c.Method] == nil {
		one.sent[c.Method] = map[string]bool{}
	}
	if len(one.sent[c.Method]) < mostPaths {
		one.sent[c.Method][c.Path] = true
	}
}

// isPlain says whether what a program wrote can stand in a table: the host in its one
// spelling, method and path in plain characters.
func isPlain(c api.Connection) bool {
	host, err := reach.ParseHost(c.Host)
	special := func(r rune) bool { return r < ' ' || r > '~' }
	return err == nil && host.String() == c.Host && !strings.ContainsFunc(c.Method+c.Path, special)
}

// suggestion is what would let through what was refused.
type suggestion struct {
	Hosts []suggestedHost `json:"hosts"`
	// More is how many hosts were left out, which were wanted less often.
	More int `json:"more"`
	// Rows is a file data.yaml, Test one of Rego: both are empty where no host lacks rows.
	Rows string `json:"rows"`
	Test string `json:"test"`
}

// suggestedHost is a host with the rows that it lacks.
type suggestedHost struct {
	Host      string         `json:"host"`
	Rows      []suggestedRow `json:"rows"`
	Platforms []string       `json:"platforms"`
	Refused   int            `json:"refused"`
	Approved  int            `json:"approved"`
	// Known says that the tables have rows of it already, which these would stand beside.
	Known bool `json:"known"`
	// LooksLike is a host that is known, or was wanted more often, and that this one may be mistaken for.
	LooksLike string `json:"looks_like,omitempty"`
}

type suggestedRow struct {
	Ports    []int    `json:"ports"`
	Protocol string   `json:"protocol,omitempty"`
	Methods  []string `json:"methods,omitempty"`
	Paths    []string `json:"paths,omitempty"`

	tried map[string]string // a path by method, as it was sent
}

// suggestion makes rows of what was wanted, the most often first. Known are the hosts that the tables have
// rows of; closed says whether no row opens an address.
func (w wanted) suggestion(known []string, closed func(netip.Addr, int) bool) suggestion {
	s := suggestion{Hosts: w.sorted(known, closed)}
	rows := 0
	for i, host := range s.Hosts {
		if rows += len(host.Rows); rows > mostRows && i > 0 {
			s.Hosts, s.More = s.Hosts[:i], len(s.Hosts)-i
			break
		}
	}
	mark(s.Hosts, known)
	s.Rows, s.Test = s.rows(), s.test()
	return s
}

// mostRows is how many rows are suggested.
const mostRows = 20

// sorted are the hosts that rows could open, the one that was wanted most often first.
func (w wanted) sorted(known []string, closed func(netip.Addr, int) bool) []suggestedHost {
	hosts := w.byName(known, closed)
	slices.SortStableFunc(hosts, func(a, b suggestedHost) int { return cmp.Compare(b.Refused+b.Approved, a.Refused+a.Approved) })
	return hosts
}

// mark says of each host whether it looks like one that is known, or was wanted more often.
func mark(hosts []suggestedHost, known []string) {
	familiar := slices.Clone(known)
	for i, host := range hosts {
		if like := slices.IndexFunc(familiar, func(one string) bool { return looksLike(host.Host, one) }); like >= 0 && !host.Known {
			hosts[i].LooksLike = familiar[like]
		}
		familiar = append(familiar, host.Host)
	}
}

// looksLike says whether people may take a host for another one: it holds that one's name, or differs in a letter.
func looksLike(host, known string) bool {
	known = strings.TrimPrefix(known, "*.")
	if _, err := netip.ParseAddr(host); err == nil || host == known || len(known) < 4 || strings.HasSuffix(host, "."+known) ||
		strings.HasSuffix(known, "."+host) {
		return false
	}
	return strings.Contains(host, known) || strings.Contains(strings.ReplaceAll(host, "-", "."), known) || isOneApart(host, known)
}

// isOneApart says whether one letter was changed, added, left out, or moved by one place.
func isOneApart(a, b string) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	start := 0
	for start < len(b) && a[start] == b[start] {
		start++
	}
	switch len(a) - len(b) {
	case 0:
		if start == len(a) || isDigit(a[start]) && isDigit(b[start]) { // db1 and db2 are no look-alikes
			return false
		}
		swapped := start+1 < len(a) && a[start] == b[start+1] && a[start+1] == b[start] && a[start+2:] == b[start+2:]
		return swapped || a[start+1:] == b[start+1:]
	case 1:
		return !isDigit(a[start]) && a[start+1:] == b[start:]
	}
	return false
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// byName are the hosts that rows could open, in the order of their names.
func (w wanted) byName(known []string, closed func(netip.Addr, int) bool) []suggestedHost {
	hosts := []suggestedHost{}
	order := func(a, b destinationKey) int {
		return cmp.Or(cmp.Compare(a.host, b.host), cmp.Compare(a.port, b.port), cmp.Compare(a.protocol, b.protocol))
	}
	for _, key := range slices.SortedFunc(maps.Keys(w.hosts), order) {
		one := w.hosts[key]
		refused := 0
		for question, times := range one.refused {
			if !w.denied[question] {
				refused += times
			}
		}
		if address, err := netip.ParseAddr(key.host); refused+one.approved == 0 || err == nil && closed(address, key.port) {
			continue
		}
		if n := len(hosts); n == 0 || hosts[n-1].Host != key.host {
			hosts = append(hosts, suggestedHost{Host: key.host, Known: slices.Contains(known, key.host), Platforms: []string{}})
		}
		host := &hosts[len(hosts)-1]
		host.Refused, host.Approved = host.Refused+refused, host.Approved+one.approved
		host.Platforms = slices.Compact(slices.Sorted(slices.Values(append(host.Platforms, cli.Names(one.platforms)...))))
		host.Rows = append(host.Rows, one.rows()...)
	}
	return hosts
}

// rows are a row for reading, and one for each other method with the paths that it had.
func (w *wantedHost) rows() []suggestedRow {
	row := suggestedRow{Ports: []int{w.port}, tried: map[string]string{}}
	if w.protocol == "tcp" || w.protocol == "http" && w.port != 80 {
		row.Protocol = w.protocol
	}
	if w.protocol == "tcp" {
		return []suggestedRow{row}
	}
	reading := row
	reading.Methods, reading.tried = []string{"GET", "HEAD"}, map[string]string{"GET": "/"}
	rows := []suggestedRow{reading}
	for _, method := range cli.Names(w.sent) {
		sending := row
		sending.Methods = []string{method}
		for _, path := range cli.Names(w.sent[method]) {
			sending.tried = map[string]string{method: path}
			sending.Paths = append(sending.Paths, literal.Replace(path))
		}
		rows = append(rows, sending)
	}
	return rows
}

// literal writes a path so that it stands for itself alone.
var literal = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`)

// print is for people: two files, after each other.
func (s suggestion) print(w io.Writer) {
	if len(s.Hosts) == 0 {
		fmt.Fprintln(w, "# Nothing was refused that a row would let through.")
		return
	}
	if s.Rows != "" {
		fmt.Fprintf(w, "# data.yaml, in a folder of your own beside the shipped policies:\n%s\n", s.Rows)
		fmt.Fprintf(w, "# suggested_test.rego, beside it:\n%s\n", s.Test)
	}
	for _, host := range s.Hosts {
		if host.Known {
			fmt.Fprintf(w, "# %s has rows already. Add beside them what is missing:\n", host.Host)
			for _, row := range host.Rows {
				fmt.Fprintf(w, "#   - %s\n", row)
			}
		}
		for _, platform := range host.Platforms {
			fmt.Fprintf(w, "# Name %s in network.platforms.%s.egress, unless the list has it already.\n", host.Host, platform)
		}
	}
	if s.More > 0 {
		fmt.Fprintf(w, "# %s that were wanted less often are left out: choose by --since and --session.\n",
			cli.Amount(int64(s.More), "host"))
	}
}

// unknown are the hosts without rows.
func (s suggestion) unknown() []suggestedHost {
	return slices.DeleteFunc(slices.Clone(s.Hosts), func(h suggestedHost) bool { return h.Known })
}

// rows is the table of the hosts that have no rows.
func (s suggestion) rows() string {
	hosts := s.unknown()
	if len(hosts) == 0 {
		return ""
	}
	var text strings.Builder
	text.WriteString("bailiff:\n  tables:\n    destinations:\n")
	for _, host := range hosts {
		fmt.Fprintf(&text, "      # refused %s, approved %s\n", often(host.Refused), often(host.Approved))
		if host.LooksLike != "" {
			fmt.Fprintf(&text, "      # CAUTION: it looks like %s, and is another host\n", host.LooksLike)
		}
		fmt.Fprintf(&text, "      %q:\n", host.Host)
		for _, row := range host.Rows {
			fmt.Fprintf(&text, "        - %s\n", row)
		}
	}
	return text.String()
}

func often(n int) string { return cli.Amount(int64(n), "time") }

// String is the row as YAML, and as JSON.
func (r suggestedRow) String() string {
	text, _ := json.Marshal(r) // texts and numbers
	return string(text)
}

// test is a test of the rows: what was wanted is let through, and another method is not.
func (s suggestion) test() string {
	var text strings.Builder
	for i, host := range s.unknown() {
		for j, row := range host.Rows {
			fmt.Fprintf(&text, "\ntest_suggested_%d_%d if {\n", i+1, j+1)
			if row.Protocol == "tcp" {
				row.tried = map[string]string{"": ""}
			}
			for _, method := range cli.Names(row.tried) {
				fmt.Fprintf(&text, "\t_suggested(%s) == \"allow\"\n", row.asked(host.Host, method, row.tried[method]))
			}
			if row.Protocol != "tcp" {
				fmt.Fprintf(&text, "\t_suggested(%s) == \"deny\"\n", row.asked(host.Host, "DELETE", "/not/suggested"))
			}
			text.WriteString("}\n")
		}
	}
	if text.Len() == 0 {
		return ""
	}
	return suggestedTest + text.String()
}

// asked is the connection in Rego.
func (r suggestedRow) asked(host, method, path string) string {
	protocol := cmp.Or(r.Protocol, "https")
	if r.Protocol == "" && r.Ports[0] == 80 {
		protocol = "http"
	}
	parsed, _ := reach.ParseHost(host) // it was read before
	_, isAddress := parsed.Address()
	return fmt.Sprintf("{\"protocol\": %q, \"host\": %q, \"port\": %d, \"is_address\": %t, \"method\": %q, \"path\": %q}",
		protocol, host, r.Ports[0], isAddress, method, path)
}

const suggestedTest = `package bailiff_test

import data.bailiff

_suggested(connection) := outcome if {
	outcome := bailiff.connection.outcome with input as {
		"tool": "connection",
		"caller": {"name": "test"},
		"session": {"id": "s", "platform": "test", "unattended": false},
		"backend": {"name": "docker"},
		"time": "2026-01-31T12:00:00Z",
		"request": {"decision_id": "d", "tool": "terminal", "egress": [connection.host]},
		"connection": object.union(
			{"via": "connect", "domain": "", "intercepted": true, "secrets": []},
			connection,
		),
	}
}
`
