package overlay

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// download is a folder in which something from the network lies. Beside says that
// other files may lie there too: only what is in a folder below counts then.
type download struct {
	folder string
	beside bool
}

// Unpack notes that a call fills a folder from the network.
func (fs *FS) Unpack(folder string, beside bool) {
	if len(fs.downloads) >= word.MaxFields {
		fs.Hide()
		return
	}
	fs.downloads = append(fs.downloads, download{folder, beside})
}

// IsDownloaded says whether a file lies in what was fetched and unpacked.
func (fs *FS) IsDownloaded(p string) bool {
	for _, u := range fs.downloads {
		if !fs.Spend(1) {
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
