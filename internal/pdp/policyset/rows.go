package policyset

import (
	"fmt"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/network/reach"
)

// PortsNamed are the ports of each entry of the table of destinations.
func (p *Set) PortsNamed() map[string][]uint16 {
	named := map[string][]uint16{}
	destinations, _ := p.Tables()["destinations"].(map[string]any)
	for name, rows := range destinations {
		rows, _ := rows.([]any)
		for _, row := range rows {
			row, _ := row.(map[string]any)
			ports, _ := row["ports"].([]any)
			for _, port := range ports {
				if port, err := reach.ParsePort(fmt.Sprint(port)); err == nil {
					named[name] = append(named[name], port)
				}
			}
		}
	}
	return named
}

// Has says whether the tables have an entry.
func (p *Set) Has(path []string) bool {
	var here any = p.Tables()
	for _, name := range path {
		object, ok := here.(map[string]any)
		if here, ok = object[name], ok && object[name] != nil; !ok {
			return false
		}
	}
	return true
}

// DestinationNames are the names by which the table may have a host.
func DestinationNames(host string) []string {
	names := []string{host}
	for rest := host; ; {
		_, parent, more := strings.Cut(rest, ".")
		if !more {
			return names
		}
		names, rest = append(names, "*."+parent), parent
	}
}
