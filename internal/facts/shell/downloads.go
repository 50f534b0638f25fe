package shell

import (
	"strings"
)

// unpacked is a folder in which something from the network lies. Beside says that
// other files may lie there too: only what is in a folder below counts then.
type unpacked struct {
	folder string
	beside bool
}

// unpack notes that a call fills a folder from the network.
func (fs *overlay) unpack(folder string, beside bool) {
	if len(fs.unpacked) >= maxFields {
		fs.hide()
		return
	}
	fs.unpacked = append(fs.unpacked, unpacked{folder, beside})
}

// downloaded says whether a file lies in what was fetched and unpacked.
func (fs *overlay) downloaded(p string) bool {
	for _, u := range fs.unpacked {
		if !fs.spend(1) {
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
