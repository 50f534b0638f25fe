package shell

import "strings"

// unpacked is a folder in which something from the network lies. Beside says that
// other files may lie there too: only what is in a folder below counts then.
type unpacked struct {
	folder string
	beside bool
}

// unpack notes that a call fills a folder from the network.
func (a *analysis) unpack(folder string, beside bool) {
	if len(a.unpacked) >= maxFields {
		a.hide()
		return
	}
	a.unpacked = append(a.unpacked, unpacked{folder, beside})
}

// downloaded says whether a file lies in what was fetched and unpacked.
func (a *analysis) downloaded(p string) bool {
	for _, u := range a.unpacked {
		if !a.spend(1) {
			return true
		}
		below, ok := strings.CutPrefix(p, strings.TrimSuffix(u.folder, "/")+"/")
		if u.folder == "." {
			below, ok = p, !strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "~")
		}
		if ok && (!u.beside || strings.Contains(below, "/")) {
			return true
		}
	}
	return false
}

// extracts follows an archive from the network into the folder that gets its files.
func (a *analysis) extracts(inv *invocation, archive stream, folder word, given bool) {
	if !archive.Fetched {
		return
	}
	if !given {
		folder = known(".")
	}
	a.unpack(a.path(folder, inv.sc), !given)
}
