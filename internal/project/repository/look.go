package repository

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
)

// looked are the files and folders whose change a look sees, beside the refs.
var looked = append([]string{"HEAD", "index", "index.lock", "rebase-merge", "rebase-apply", "sequencer", "BISECT_LOG"}, Notes...)

// lookedCommon are those of them that working folders share.
var lookedCommon = []string{"packed-refs", "logs/refs/stash", "shallow", "config", "info", "info/exclude", "info/attributes",
	"info/sparse-checkout", "objects/info/alternates", "hooks", "lfs"}

// Look is a text that differs once git has written anything that is read here. It takes the time
// of a few lstat, for any number of files. A program that sets times on purpose hides only
// its own changes.
func (d Dirs) Look() string {
	sum := sha256.New()
	for _, name := range looked {
		fmt.Fprintln(sum, mark(d.Git, name))
	}
	for _, name := range lookedCommon {
		fmt.Fprintln(sum, mark(d.Common, name))
	}
	var text strings.Builder
	markRefs(d.Common, "refs", &text, 0)
	fmt.Fprint(sum, text.String())
	return fmt.Sprintf("%x", sum.Sum(nil))
}

func mark(root *os.Root, name string) string {
	info, err := root.Lstat(name)
	if err != nil {
		return "-"
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "?"
	}
	return fmt.Sprintf("%d %d %d %o", stat.Ino, info.Size(), info.ModTime().UnixNano(), info.Mode())
}

func markRefs(root *os.Root, folder string, text *strings.Builder, depth int) {
	inside, err := list(root, folder)
	if err != nil || depth > maxDepth || text.Len() > maxList {
		fmt.Fprintln(text, folder, "?")
		return
	}
	slices.SortFunc(inside, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, e := range inside {
		name := path.Join(folder, e.Name())
		fmt.Fprintln(text, name, mark(root, name))
		if e.Type()&fs.ModeDir != 0 {
			markRefs(root, name, text, depth+1)
		}
	}
}
