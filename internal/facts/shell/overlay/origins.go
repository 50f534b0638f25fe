package overlay

import (
	"maps"
	"slices"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// Origins are of the files that the text fills from the network, by a decoder or by a compiler.
func (fs *FS) Origins() []bailiff.Origin {
	fetched, decoded := map[string]bool{}, map[string]bool{}
	for p, s := range fs.contents {
		fetched[p], decoded[p] = s.Fetched, s.Decoded
	}
	all := value.OriginsOf(fetched, decoded)
	for _, to := range slices.Sorted(maps.Keys(fs.transfers)) {
		for _, t := range fs.transfers[to] {
			if t.kind == CompiledFrom {
				all = append(all, bailiff.Origin{Path: to, How: bailiff.Compiled, From: t.from})
			}
		}
	}
	return all
}
