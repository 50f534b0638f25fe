package overlay

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// Origins are of the files that the text fills from the network, by a decoder or by a compiler, and of those that it makes of others.
func (fs *FS) Origins() []bailiff.Origin {
	fetched, decoded := map[string]bool{}, map[string]bool{}
	for p, s := range fs.contents {
		fetched[p], decoded[p] = s.Fetched, s.Decoded
	}
	all := value.OriginsOf(fetched, decoded)
	for _, to := range slices.Sorted(maps.Keys(fs.transfers)) {
		for _, t := range fs.transfers[to] {
			all = append(all, t.origins(to)...)
		}
	}
	if slices.Contains(fs.Features, value.FeatureBackground) {
		for i := range all {
			all[i].Later = true
		}
	}
	return all[:min(len(all), value.MaxOrigins)]
}

// origins are those of what a transfer fills.
func (t transfer) origins(to string) (all []bailiff.Origin) {
	derived := func(path string, from ...string) {
		if len(from) > 0 {
			all = append(all, bailiff.Origin{Path: path, How: bailiff.Derived, From: from})
		}
	}
	switch t.kind {
	case CompiledFrom:
		all = append(all, bailiff.Origin{Path: to, How: bailiff.Compiled, From: t.from})
	case Written:
		derived(to, t.from...)
	case Copied:
		for _, from := range t.from {
			derived(to, from)
			derived(path.Join(to, path.Base(from)), from)
		}
	case UnpackedInto:
		derived(to+"/", t.from...)
	case UnpackedBeside:
		for _, from := range t.from {
			all = append(all, bailiff.Origin{Path: to + "/", Beside: path.Join(to, stem(from)) + "/", How: bailiff.Derived,
				From: []string{from}})
		}
	case Divided: // by names that only a run would tell
	}
	return all
}

// stem is the name of an archive without its endings.
func stem(archive string) string {
	base := path.Base(archive)
	return strings.TrimSuffix(strings.TrimSuffix(base, path.Ext(base)), ".tar")
}
