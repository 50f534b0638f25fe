package bailiff

import (
	"path"
	"strings"
	"sync"
	"time"
)

// SessionHistory is what a session did before a request, and apart, in User, what its user did today. A nil one is not known.
type SessionHistory struct {
	// Complete is false where facts are missing: older ones made room, or what was kept of them is damaged.
	Complete bool `json:"complete"`
	*SessionFacts
	Denials DenialCount `json:"denials"`
	// Requests counts those before this one, NewHosts the hosts that were named or reached for the first time.
	Requests WindowCount `json:"requests"`
	NewHosts WindowCount `json:"new_hosts"`
	// RunSeconds is how long its requests ran in all.
	RunSeconds int `json:"run_seconds"`
	// User is of its user, without one of its own.
	User *SessionHistory `json:"user,omitempty"`
}

// SessionFacts are what a session did, without the counters of time. They never change: each request that adds one makes others.
type SessionFacts struct {
	// Files are those that it filled from the network, by a decoder, or by a compiler from such, oldest first.
	Files []FileFact `json:"files"`
	// Hosts are those that requests which ran named or reached, CredentialsRead what these read of credentials, the oldest first.
	Hosts           []string `json:"hosts"`
	CredentialsRead []string `json:"credentials_read"`
	// Findings counts how often a rule was a reason, by the rules.
	Findings map[string]int `json:"findings"`
	// Reached are the hosts that its sandboxes reached through the sidecar, with the bytes that were sent there.
	Reached map[string]int64 `json:"reached"`
	// Forwarded are the names of the variables that its requests got, ApprovedBy who approved how many of them, Agents the ids of its
	// sub-agents.
	Forwarded  []string       `json:"forwarded"`
	ApprovedBy map[string]int `json:"approved_by"`
	Agents     []string       `json:"agents"`

	once, indexing        sync.Once
	built                 any
	bySHA, byPath, byName map[string]int // the files
	open                  []int          // those of them that are folders or patterns
}

// DenialCount counts denials by the policies and by people. Those in a row end with a request that ran.
type DenialCount struct {
	InARow int `json:"in_a_row"`
	Total  int `json:"total"`
}

// WindowCount counts what was within the last minute, hour and day, to ten seconds.
type WindowCount struct {
	Minute int `json:"minute"`
	Hour   int `json:"hour"`
	Day    int `json:"day"`
}

// FileFact is a file that a session filled.
type FileFact struct {
	// Path is absolute where the folder was known, and ends in "/" for a folder of which all files count. It may
	// be a pattern. SHA256 is of its content, empty where that could not be looked at.
	Path   string `json:"path"`
	SHA256 string `json:"sha256,omitempty"`
	// How is one of [Downloaded], [Decoded] and [Compiled].
	How string    `json:"how"`
	At  time.Time `json:"at"`
}

// Run is a file that a request runs and that the session, or its user, filled before.
type Run struct {
	// Path is the one by which the request runs it.
	Path string
	// Whose is "session" or "user".
	Whose string
	// FileFact is how it was filled, with the content that it has now, empty where that was not looked at.
	FileFact
}

// Once keeps what is made of the facts for the next that asks.
func (h *SessionFacts) Once(built func() any) any {
	h.once.Do(func() { h.built = built() })
	return h.built
}

// HasFiles says that the session, or its user, filled files.
func (h *SessionHistory) HasFiles() bool {
	return h != nil && (h.SessionFacts != nil && len(h.Files) > 0 || h.User.HasFiles())
}

// Runs are those of some files, seen from a folder, that the session filled, or whose content its user did.
func (h *SessionHistory) Runs(folder string, files []File) (all []Run) {
	if h == nil || h.SessionFacts == nil {
		return nil
	}
	var user *SessionFacts
	if h.User != nil {
		user = h.User.SessionFacts
	}
	for _, f := range files {
		known, ok := h.made(folder, f)
		whose := "session"
		if !ok {
			known, ok = user.holding(f.SHA256)
			whose = "user"
		}
		if ok {
			known.SHA256 = f.SHA256 // a grant is for what runs, which need not be what was brought
			all = append(all, Run{f.Path, whose, known})
		}
	}
	return all
}

// made is the fact of a file, by its content or by its path.
func (h *SessionFacts) made(folder string, f File) (known FileFact, ok bool) {
	if known, ok = h.holding(f.SHA256); ok || len(h.Files) == 0 {
		return known, ok
	}
	at := Within(folder, f.Path)
	if isPattern(at) {
		return h.matching(at)
	}
	n, ok := h.byPath[at]
	if !ok && !isWhole(at) {
		n, ok = h.byName[path.Base(at)]
	}
	if !ok {
		n, ok = h.byPath[path.Base(at)] // of a file whose folder was not known
	}
	if ok {
		return h.Files[n], true
	}
	return h.around(at)
}

// around is the fact of the folder in which a path lies, or of a pattern that it matches.
func (h *SessionFacts) around(at string) (known FileFact, ok bool) {
	for _, n := range h.open {
		known := homely(h.Files[n].Path)
		fits, _ := path.Match(known, at)
		if fits || strings.HasSuffix(known, "/") && strings.HasPrefix(at, known) {
			return h.Files[n], true
		}
	}
	return known, false
}

func isPattern(at string) bool { return strings.ContainsAny(at, "*?[") }

// matching is the fact of a file, or of a folder, that a pattern may mean.
func (h *SessionFacts) matching(pattern string) (known FileFact, ok bool) {
	until := pattern[:strings.IndexAny(pattern, "*?[")]
	if known, ok = h.around(until); ok {
		return known, ok
	}
	for _, known := range h.Files {
		at := homely(known.Path)
		fits, _ := path.Match(pattern, at)
		if !fits && strings.Contains(pattern, "**") && strings.HasPrefix(at, until) {
			fits, _ = path.Match(path.Base(pattern), path.Base(known.Path))
		}
		if fits {
			return known, true
		}
	}
	return known, false
}

// Below are the facts of the files and folders of a folder.
func (h *SessionHistory) Below(at string) (all []FileFact) {
	if h == nil || h.SessionFacts == nil {
		return nil
	}
	for _, known := range h.Files {
		if strings.HasPrefix(known.Path, strings.TrimSuffix(at, "/")+"/") {
			all = append(all, known)
		}
	}
	return all
}

// holding is the fact of a file of that content.
func (h *SessionFacts) holding(sha256 string) (known FileFact, ok bool) {
	if h == nil || len(h.Files) == 0 {
		return known, false
	}
	h.indexing.Do(h.index)
	if n, ok := h.bySHA[sha256]; ok && sha256 != "" {
		return h.Files[n], true
	}
	return known, false
}

// index finds files by their content, their paths, and the last parts of these.
func (h *SessionFacts) index() {
	h.bySHA, h.byPath, h.byName = map[string]int{}, map[string]int{}, map[string]int{}
	for n, known := range h.Files {
		known.Path = homely(known.Path)
		h.bySHA[known.SHA256], h.byPath[known.Path], h.byName[path.Base(known.Path)] = n, n, n
		if !isWhole(known.Path) {
			h.byPath[path.Base(known.Path)] = n
		}
		if strings.HasSuffix(known.Path, "/") || isPattern(known.Path) {
			h.open = append(h.open, n)
		}
	}
}

// Within is a path as seen from a folder, which may be unknown. What lies in a home folder begins with "~", however it was spelled.
func Within(folder, at string) string {
	if folder != "" && !isWhole(at) {
		at = path.Join(folder, at)
	}
	return homely(path.Clean(at))
}

func homely(at string) string {
	for _, homes := range []string{"/home/", "/Users/"} {
		if rest, ok := strings.CutPrefix(at, homes); ok && rest != "" {
			_, below, isBelow := strings.Cut(rest, "/")
			if !isBelow {
				return "~"
			}
			return "~/" + below
		}
	}
	if rest, ok := strings.CutPrefix(at, "/root"); ok && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return at
}

// isWhole says that a path names its folder, with "~" for the home folder.
func isWhole(at string) bool { return path.IsAbs(at) || at != "" && at[0] == '~' }
