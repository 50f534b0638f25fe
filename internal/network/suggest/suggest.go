// Package suggest words the rows that the policies' table of destinations lacks: what connections were refused for want of a row or
// approved by people becomes rows, and a test of these in Rego.
//
// What is promised: nothing is changed, and what a sandbox chose stands in a row only if it is spelt plainly. A host that was refused as
// a whole gets a row for reading alone; what people denied, and what no row opens, is left out. A name that looks like a host that is
// known is marked.
//
// What is not here: the judgement of connections, which the policies have, and the table itself.
package suggest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/network/reach"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
)

// Read reads the decision log in a state folder from a time on. Session is the only one that counts, empty means all.
func Read(ctx context.Context, stateDir string, from time.Time, session string) (*Demand, error) {
	found := newDemand()
	err := audit.Tail(ctx, stateDir, audit.Selection{Last: math.MaxInt, Since: from}, func(line []byte) error {
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

// Demand is what connections lacked a row for.
type Demand struct {
	hosts map[destination]*demandedHost
	// denied are the questions to which people said no.
	denied map[string]bool
}

func newDemand() *Demand {
	return &Demand{hosts: map[destination]*demandedHost{}, denied: map[string]bool{}}
}

type destination struct {
	host, protocol string
	port           int
}

// demandedHost is the demand for a host and port.
type demandedHost struct {
	destination
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
func (w *Demand) read(l api.Line) {
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
	key := destination{c.Host, c.Protocol, c.Port}
	one := w.hosts[key]
	if one == nil {
		one = &demandedHost{key, map[string]map[string]bool{}, map[string]bool{}, map[string]int{}, 0}
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

// Suggestion is what would let through what was refused.
type Suggestion struct {
	Hosts []Host `json:"hosts"`
	// More is how many hosts were left out, which were wanted less often.
	More int `json:"more"`
	// Rows is a file data.yaml, Test one of Rego: both are empty where no host lacks rows.
	Rows string `json:"rows"`
	Test string `json:"test"`
}

// Host is a host with the rows that it lacks.
type Host struct {
	Host      string   `json:"host"`
	Rows      []Row    `json:"rows"`
	Platforms []string `json:"platforms"`
	Refused   int      `json:"refused"`
	Approved  int      `json:"approved"`
	// Known says that the tables have rows of it already, which these would stand beside.
	Known bool `json:"known"`
	// LooksLike is a host that is known, or was wanted more often, and that this one may be mistaken for.
	LooksLike string `json:"looks_like,omitempty"`
}

// Row is a row of the table of destinations.
type Row struct {
	Ports    []int    `json:"ports"`
	Protocol string   `json:"protocol,omitempty"`
	Methods  []string `json:"methods,omitempty"`
	Paths    []string `json:"paths,omitempty"`

	tried map[string]string // a path by method, as it was sent
}

// Suggestion makes rows of the demand, the hosts that were wanted most often first. Known are the hosts that the tables have
// rows of; closed says whether no row opens an address.
func (w *Demand) Suggestion(known []string, closed func(netip.Addr, int) bool) Suggestion {
	s := Suggestion{Hosts: w.sorted(known, closed)}
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
func (w *Demand) sorted(known []string, closed func(netip.Addr, int) bool) []Host {
	hosts := w.byName(known, closed)
	slices.SortStableFunc(hosts, func(a, b Host) int { return cmp.Compare(b.Refused+b.Approved, a.Refused+a.Approved) })
	return hosts
}

// byName are the hosts that rows could open, in the order of their names.
func (w *Demand) byName(known []string, closed func(netip.Addr, int) bool) []Host {
	hosts := []Host{}
	order := func(a, b destination) int {
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
			hosts = append(hosts, Host{Host: key.host, Known: slices.Contains(known, key.host), Platforms: []string{}})
		}
		host := &hosts[len(hosts)-1]
		host.Refused, host.Approved = host.Refused+refused, host.Approved+one.approved
		host.Platforms = slices.Compact(slices.Sorted(slices.Values(append(host.Platforms, names(one.platforms)...))))
		host.Rows = append(host.Rows, one.rows()...)
	}
	return hosts
}
