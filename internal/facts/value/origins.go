package value

import (
	"maps"
	"slices"

	"github.com/bailiff-dev/bailiff"
)

// MaxOrigins is how many origins of files one text tells.
const MaxOrigins = 256

// OriginsOf are the origins of files that hold what came from the network or from a decoder, by their paths.
func OriginsOf(fetched, decoded map[string]bool) []bailiff.Origin {
	all := []bailiff.Origin{}
	for _, p := range slices.Sorted(maps.Keys(fetched)) {
		if fetched[p] && len(all) < MaxOrigins {
			all = append(all, bailiff.Origin{Path: p, How: bailiff.Downloaded})
		}
	}
	for _, p := range slices.Sorted(maps.Keys(decoded)) {
		if decoded[p] && !fetched[p] && len(all) < MaxOrigins {
			all = append(all, bailiff.Origin{Path: p, How: bailiff.Decoded})
		}
	}
	return all
}
