package suggest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/network/reach"
)

// rows are a row for reading, and one for each other method with the paths that it had.
func (w *demandedHost) rows() []Row {
	row := Row{Ports: []int{w.port}, tried: map[string]string{}}
	if w.protocol == "tcp" || w.protocol == "http" && w.port != 80 {
		row.Protocol = w.protocol
	}
	if w.protocol == "tcp" {
		return []Row{row}
	}
	reading := row
	reading.Methods, reading.tried = []string{"GET", "HEAD"}, map[string]string{"GET": "/"}
	rows := []Row{reading}
	for _, method := range names(w.sent) {
		sending := row
		sending.Methods = []string{method}
		for _, path := range names(w.sent[method]) {
			sending.tried = map[string]string{method: path}
			sending.Paths = append(sending.Paths, literal.Replace(path))
		}
		rows = append(rows, sending)
	}
	return rows
}

// literal writes a path so that it stands for itself alone.
var literal = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`)

// Print is for people: two files, after each other.
func (s Suggestion) Print(w io.Writer) {
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
			amount(s.More, "host"))
	}
}

// unknown are the hosts without rows.
func (s Suggestion) unknown() []Host {
	return slices.DeleteFunc(slices.Clone(s.Hosts), func(h Host) bool { return h.Known })
}

// rows is the table of the hosts that have no rows.
func (s Suggestion) rows() string {
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

func often(n int) string { return amount(n, "time") }

func amount(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

func names[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// String is the row as YAML, and as JSON.
func (r Row) String() string {
	text, _ := json.Marshal(r) // texts and numbers
	return string(text)
}

// test is a test of the rows: what was wanted is let through, and another method is not.
func (s Suggestion) test() string {
	var text strings.Builder
	for i, host := range s.unknown() {
		for j, row := range host.Rows {
			fmt.Fprintf(&text, "\ntest_suggested_%d_%d if {\n", i+1, j+1)
			if row.Protocol == "tcp" {
				row.tried = map[string]string{"": ""}
			}
			for _, method := range names(row.tried) {
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
func (r Row) asked(host, method, path string) string {
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
