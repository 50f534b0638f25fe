package document

import (
	"cmp"
	"crypto/sha256"
	"maps"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff"
)

// KeyHistory is the key of what the session did before.
var KeyHistory = ast.StringTerm("session_history")

var (
	keyRuns            = ast.StringTerm("runs")
	keyCredentialsRead = ast.StringTerm("credentials_read")
	keyFindings        = ast.StringTerm("findings")
	keyDenials         = ast.StringTerm("denials")
	keyInARow          = ast.StringTerm("in_a_row")
	keyTotal           = ast.StringTerm("total")
	keyRequests        = ast.StringTerm("requests")
	keyNewHosts        = ast.StringTerm("new_hosts")
	keyMinute          = ast.StringTerm("minute")
	keyHour            = ast.StringTerm("hour")
	keyDay             = ast.StringTerm("day")
	keyUser            = ast.StringTerm("user")
	keyReached         = ast.StringTerm("reached")
	keyForwarded       = ast.StringTerm("forwarded")
	keyApprovedBy      = ast.StringTerm("approved_by")
	keyAgents          = ast.StringTerm("agents")
	keyRunSeconds      = ast.StringTerm("run_seconds")
	keyUserDenials     = ast.StringTerm("user_denials")
	keyHow             = ast.StringTerm("how")
	keyAt              = ast.StringTerm("at")
	keyMade            = ast.StringTerm("made")
	keyWhose           = ast.StringTerm("whose")
)

// factTerms are the facts of a history as terms, by their keys, and the digests of these. They are made once.
type factTerms struct {
	entries [][2]*ast.Term
	digests map[string]string
}

func termsOf(f *bailiff.SessionFacts) *factTerms {
	return f.Once(func() any {
		files := make([]*ast.Term, len(f.Files))
		for i, known := range f.Files {
			files[i] = object(fileFact(known)...)
		}
		all := &factTerms{entries: [][2]*ast.Term{item(keyFiles, ast.ArrayTerm(files...)), item(keyHosts, list(f.Hosts)),
			item(keyCredentialsRead, list(f.CredentialsRead)), item(keyFindings, numbers(f.Findings)),
			item(keyReached, numbers(f.Reached)), item(keyForwarded, list(f.Forwarded)), item(keyApprovedBy, numbers(f.ApprovedBy)),
			item(keyAgents, list(f.Agents))}, digests: map[string]string{}}
		for _, entry := range all.entries {
			written, _ := AppendJSON(nil, entry[1].Value) // texts and numbers only
			sum := sha256.Sum256(written)
			all.digests[string(entry[0].Value.(ast.String))] = string(sum[:])
		}
		return all
	}).(*factTerms)
}

func numbers[N int | int64](all map[string]N) *ast.Term {
	entries := make([][2]*ast.Term, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		entries = append(entries, item(text(name), ast.InternedTerm(int(all[name]))))
	}
	return object(entries...)
}

func fileFact(known bailiff.FileFact) [][2]*ast.Term {
	entries := [][2]*ast.Term{item(keyPath, text(known.Path)), item(keyHow, text(known.How)), item(keyAt, text(Instant(known.At)))}
	if known.SHA256 != "" {
		entries = append(entries, item(keySHA256, text(known.SHA256)))
	}
	return entries
}

// noFacts are those of a history that is not told.
var noFacts = &bailiff.SessionFacts{}

// historyEntries are the parts of a history but for the files that a request runs.
func historyEntries(h *bailiff.SessionHistory) [][2]*ast.Term {
	entries := slices.Clone(termsOf(cmp.Or(h.SessionFacts, noFacts)).entries)
	entries = append(entries, item(keyComplete, ast.InternedTerm(h.Complete)),
		item(keyDenials, denials(h.Denials)), item(keyRequests, window(h.Requests)), item(keyNewHosts, window(h.NewHosts)),
		item(keyRunSeconds, ast.InternedTerm(h.RunSeconds)))
	if h.User != nil {
		entries = append(entries, item(keyUser, object(historyEntries(h.User)...)), item(keyUserDenials, denials(h.User.Denials)))
	}
	return entries
}

func denials(c bailiff.DenialCount) *ast.Term {
	return object(item(keyInARow, ast.InternedTerm(c.InARow)), item(keyTotal, ast.InternedTerm(c.Total)))
}

func window(c bailiff.WindowCount) *ast.Term {
	return object(item(keyMinute, ast.InternedTerm(c.Minute)), item(keyHour, ast.InternedTerm(c.Hour)),
		item(keyDay, ast.InternedTerm(c.Day)))
}

// History is what a session did, with those of its files that a request runs.
func History(h *bailiff.SessionHistory, runs []bailiff.Run) ast.Object {
	terms := make([]*ast.Term, len(runs))
	for i, r := range runs {
		entries := [][2]*ast.Term{item(keyPath, text(r.Path)), item(keyWhose, text(r.Whose)), item(keyMade, text(r.FileFact.Path)),
			item(keyHow, text(r.How)), item(keyAt, text(Instant(r.At)))}
		if r.SHA256 != "" {
			entries = append(entries, item(keySHA256, text(r.SHA256)))
		}
		terms[i] = object(entries...)
	}
	return ast.NewObject(append(historyEntries(h), item(keyRuns, ast.ArrayTerm(terms...)))...)
}

// unlogged are the parts of a history that grow with the session: each of their facts is in the log with the request that added it.
var unlogged = []*ast.Term{keyFiles, keyHosts, keyReached, keyUser}

// logged is a history as the decision log has it.
func logged(history ast.Value) ast.Value {
	all, ok := history.(ast.Object)
	if !ok {
		return history
	}
	some := ast.NewObject()
	all.Foreach(func(key, value *ast.Term) {
		if !slices.ContainsFunc(unlogged, key.Equal) {
			some.Insert(key, value)
		}
	})
	return some
}

// HistoryParts are the parts of histories that a policy reads by their names; all of them where it reads the whole.
type HistoryParts struct {
	names []string
	whole bool
}

// NewHistoryParts are those of these names; nil means all.
func NewHistoryParts(names map[string]bool) HistoryParts {
	return HistoryParts{slices.DeleteFunc(slices.Sorted(maps.Keys(names)), func(name string) bool { return name == "runs" }), names == nil}
}

// Key is what the parts of a history are, but for the files that a request runs.
func (p HistoryParts) Key(h *bailiff.SessionHistory) string {
	if h == nil || len(p.names) == 0 && !p.whole {
		return ""
	}
	var key []byte
	for _, entry := range historyEntries(h) {
		name := string(entry[0].Value.(ast.String))
		if !p.whole && !slices.Contains(p.names, name) {
			continue
		}
		key = append(append(key, name...), 0)
		if digest, known := termsOf(cmp.Or(h.SessionFacts, noFacts)).digests[name]; known {
			key = append(key, digest...)
			continue
		}
		key, _ = AppendJSON(key, entry[1].Value) // texts and numbers only
	}
	return string(key)
}

// Runs are those of the files that a text runs, seen from a folder, that its session filled before.
func Runs(at bailiff.Circumstances, folder string, files []string) []bailiff.Run {
	if at.History == nil || len(files) == 0 {
		return nil
	}
	known := make([]bailiff.File, len(files))
	for i, path := range files {
		known[i].Path = path
		if n := slices.IndexFunc(at.Files, func(f bailiff.File) bool { return f.Path == path }); n >= 0 {
			known[i].SHA256 = at.Files[n].SHA256
		}
		if n := slices.IndexFunc(at.Contents, func(c bailiff.Content) bool { return c.Path == path }); n >= 0 && known[i].SHA256 == "" {
			known[i].SHA256 = at.Contents[n].SHA256
		}
	}
	return at.History.Runs(folder, known)
}

// SameRuns says that two requests run the same files of their sessions.
func SameRuns(a, b []bailiff.Run) bool {
	return slices.EqualFunc(a, b, func(a, b bailiff.Run) bool {
		return a.Path == b.Path && a.Whose == b.Whose && a.FileFact.Path == b.FileFact.Path && a.SHA256 == b.SHA256 && a.How == b.How &&
			a.At.Equal(b.At)
	})
}
