package pdp

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/util"

	"github.com/bailiff-dev/bailiff/internal/pdp/document"
	"github.com/bailiff-dev/bailiff/internal/pdp/evaluation"
	"github.com/bailiff-dev/bailiff/internal/pdp/policyset"
)

// Place is an entry of the tables, and where it stands.
type Place struct {
	File string `json:"file"`
	Line int    `json:"line"`
	// Name is that of the entry, such as "network.platforms.slack".
	Name string `json:"name"`
}

// Row is a row of the table of destinations, and where it stands.
type Row struct {
	File string `json:"file"`
	Line int    `json:"line"`
	// Host is the name that it is a row of, such as "*.example.com".
	Host string          `json:"host"`
	Row  json.RawMessage `json:"row"`
	// Fits is "fits", "other method or path", "other port or protocol" or "not among what the request may reach"; empty
	// where that is not known.
	Fits string `json:"fits,omitempty"`
}

// What a row is to a connection.
const (
	rowFits      = "fits"
	rowOtherCall = "other method or path"
	rowOtherWay  = "other port or protocol"
	rowOutside   = "not among what the request may reach"
)

// Rows are those of a host and of the domains above it, whether or not they fit a
// connection. There are none without [Config.Explained].
func (p *PDP) Rows(host string) []Row { return p.inForce.Load().rows(host) }

func (s *snapshot) rows(host string) []Row {
	all := []Row{}
	if s.source == nil {
		return all
	}
	destinations, _ := s.source.Tables()["destinations"].(map[string]any)
	for _, name := range policyset.DestinationNames(host) {
		rows, _ := destinations[name].([]any)
		for i, row := range rows {
			text, err := json.Marshal(row)
			if err != nil {
				continue // a number that JSON has no word for; the policies see none either
			}
			file, line := s.source.PlaceOf([]string{"bailiff", "tables", "destinations", name, strconv.Itoa(i)})
			all = append(all, Row{File: file, Line: line, Host: name, Row: text})
		}
	}
	return all
}

// Destinations are the hosts that the tables have rows of, as those name them.
func (p *PDP) Destinations() []string {
	s := p.inForce.Load()
	if s.source == nil {
		return nil
	}
	destinations, _ := s.source.Tables()["destinations"].(map[string]any)
	return slices.Sorted(maps.Keys(destinations))
}

// Ports are those that the rows of a host, and of the domains above it, name.
func (p *PDP) Ports(host string) (ports []uint16) {
	s := p.inForce.Load()
	for _, name := range policyset.DestinationNames(host) {
		ports = append(ports, s.ports[name]...)
	}
	return ports
}

// rowsFor are the rows of a connection's host, each with what it is to the connection.
func (s *snapshot) rowsFor(ctx context.Context, input ast.Object, at time.Time, limit time.Duration) []Row {
	host, _ := document.At(input, "connection", "host").(ast.String)
	rows := s.rows(string(host))
	within, known := s.asked(ctx, "_is_within_request", input, at, limit)
	counted, alsoKnown := s.asked(ctx, "_rows", input, at, limit)
	fitting, allKnown := s.asked(ctx, "_fitting_rows", input, at, limit)
	if !known || !alsoKnown || !allKnown {
		return rows
	}
	for i := range rows {
		switch row := rows[i].term(); {
		case within == nil:
			rows[i].Fits = rowOutside
		case holds(fitting, row):
			rows[i].Fits = rowFits
		case holds(counted, row):
			rows[i].Fits = rowOtherCall
		default:
			rows[i].Fits = rowOtherWay
		}
	}
	return rows
}

// asked is what a rule of the policies says of an input document, nil where it is undefined.
// It is not known where there is no such rule, or where it fails.
func (s *snapshot) asked(ctx context.Context, rule string, input ast.Object, at time.Time, limit time.Duration) (answer *ast.Term,
	known bool) {
	if len(s.compiler.GetRulesExact(ast.MustParseRef("data.bailiff."+rule))) == 0 {
		return nil, false
	}
	query, err := s.query(ctx, "bailiff/"+rule)
	if err == nil {
		answer, err = evaluation.Run(ctx, query, input, at, limit)
	}
	return answer, err == nil
}

// term is the row as the policies see it; nil if it cannot be read again.
func (r Row) term() *ast.Term {
	var row any
	if util.Unmarshal(r.Row, &row) != nil {
		return nil
	}
	value, err := ast.InterfaceToValue(row)
	if err != nil {
		return nil
	}
	return ast.NewTerm(value)
}

func holds(set, one *ast.Term) bool {
	if set == nil || one == nil {
		return false
	}
	all, ok := set.Value.(ast.Set)
	return ok && all.Contains(one)
}

// listsFor are the entries of the tables that say what the requests of a connection's session
// may reach: those of the platform and the chat, and the groups that name the host.
func (s *snapshot) listsFor(input ast.Object) []Place {
	all := []Place{}
	if s.source == nil {
		return all
	}
	textAt := func(path ...string) string {
		text, _ := document.At(input, path...).(ast.String)
		return string(text)
	}
	add := func(path ...string) {
		if s.source.Has(path) {
			file, line := s.source.PlaceOf(append([]string{"bailiff", "tables"}, path...))
			all = append(all, Place{file, line, strings.Join(path, ".")})
		}
	}
	platform := textAt("session", "platform")
	add("network", "platforms", platform)
	add("chats", platform+"/"+textAt("session", "chat_id"), "network")
	add("sandboxes", textAt("backend", "name"), "network")
	names := policyset.DestinationNames(textAt("connection", "host"))
	groups, _ := s.source.Tables()["destination_groups"].(map[string]any)
	egress, _ := document.At(input, "request", "egress").(*ast.Array)
	if egress == nil {
		return all
	}
	egress.Foreach(func(one *ast.Term) {
		group, _ := one.Value.(ast.String)
		if members, _ := groups[string(group)].([]any); namesOne(members, names) {
			add("destination_groups", string(group))
		}
	})
	return all
}

// namesOne says whether a group has one of some names, with a port or without.
func namesOne(members []any, names []string) bool {
	for _, member := range members {
		text, _ := member.(string)
		for _, name := range names {
			if text == name || strings.HasPrefix(text, name+":") {
				return true
			}
		}
	}
	return false
}
