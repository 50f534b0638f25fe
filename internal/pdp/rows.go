package pdp

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Row is a row of the table of destinations, and where it stands.
type Row struct {
	File string `json:"file"`
	Line int    `json:"line"`
	// Host is the name that it is a row of, such as "*.example.com".
	Host string          `json:"host"`
	Row  json.RawMessage `json:"row"`
}

// Rows are those of a host and of the domains above it, whether or not they fit a
// connection. There are none without [Config.Explained].
func (p *PDP) Rows(host string) []Row {
	s := p.inForce.Load()
	all := []Row{}
	if s.source == nil {
		return all
	}
	destinations, _ := s.source.tables()["destinations"].(map[string]any)
	for _, name := range destinationNames(host) {
		rows, _ := destinations[name].([]any)
		for i, row := range rows {
			text, err := json.Marshal(row)
			if err != nil {
				continue // a number that JSON has no word for; the policies see none either
			}
			file, line := s.source.placeOf([]string{"bailiff", "tables", "destinations", name, strconv.Itoa(i)})
			all = append(all, Row{file, line, name, text})
		}
	}
	return all
}

// destinationNames are the names by which the table may have a host.
func destinationNames(host string) []string {
	names := []string{host}
	for rest := host; ; {
		_, parent, more := strings.Cut(rest, ".")
		if !more {
			return names
		}
		names, rest = append(names, "*."+parent), parent
	}
}
