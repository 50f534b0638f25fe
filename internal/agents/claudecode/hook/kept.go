package hook

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/bailiff-dev/bailiff/internal/agents/hook"
)

// isKept says whether a file is one in which Claude Code keeps what a tool of this session
// printed. What stands there came out of calls that were judged, and no sandbox shows it. It has to
// be a plain file of this user's own, with no other name, in the folder of this very session, and
// no link may lead there.
func isKept(c hook.Call, file string) bool {
	if !isKeptIn(c, filepath.Dir(file), filepath.Ext(file)) {
		return false
	}
	real, err := filepath.EvalSymlinks(file)
	if err != nil || real != file {
		return false
	}
	about, err := os.Lstat(file)
	if err != nil || !about.Mode().IsRegular() {
		return false
	}
	stat, ok := about.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid() && stat.Nlink == 1
}

// isKeptIn says whether a folder is the one in which Claude Code keeps such files: large results
// stand beside the record of the session, outputs of the background in a folder of the user's.
func isKeptIn(c hook.Call, folder, ext string) bool {
	if c.Session == "" || c.Session != filepath.Base(c.Session) || strings.HasPrefix(c.Session, ".") {
		return false
	}
	record, isRecord := strings.CutSuffix(c.Transcript, "/"+c.Session+".jsonl")
	if isRecord && folder == filepath.Join(record, c.Session, "tool-results") {
		return true
	}
	project, isTasks := strings.CutSuffix(folder, filepath.Join("/", c.Session, "tasks"))
	return ext == ".output" && isTasks && isTemporary(filepath.Dir(project))
}

// isTemporary says whether a folder is that of the user in which Claude Code keeps what need not last: in TMPDIR where it has one.
func isTemporary(folder string) bool {
	name := "claude-" + strconv.Itoa(os.Geteuid())
	return folder == filepath.Join("/tmp", name) || folder == filepath.Join(os.TempDir(), name)
}
