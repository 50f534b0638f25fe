// Package memo remembers the judgements of one set of policies that are in force, within bounds.
//
// Here: judgements by all of a request and its circumstances but the time, so that its text need not be read again ([Requests]);
// decisions by what the policies read of the input document ([Documents]); judgements of connections ([Connections]).
//
// Promised: only sound judgements are remembered, never a fault, and no caller holds any part of one that can change. What the log
// is told is always the input of this request.
//
// It is for policies that depend on nothing but data and the input document without its time, which package dependencies finds.
// Not here: what single rules are (package rulecache).
package memo

import (
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/pdp/document"
	"github.com/bailiff-dev/bailiff/internal/recent"
)

// These bound a memo, which holds at most twice as much. largestJudgement is the size of the largest
// judgement that is remembered at all.
const (
	maxJudgements     = 2048
	maxJudgementBytes = 8 << 20
	largestJudgement  = 64 << 10
)

// Requests remembers judgements by requests with their circumstances. A nil one remembers nothing. It is safe for concurrent use.
type Requests struct {
	judgements *recent.Map[string, *entry]
	// history are the parts of histories that judgements depend on, beside the files that a request runs.
	history document.HistoryParts
}

// entry is one judgement. No caller holds any part of it that can change.
type entry struct {
	decision      bailiff.Decision
	files         []string          // that the text runs
	opens         []string          // by which it may come to mean something else
	paths         []string          // that the text names
	unknown       []string          // programs that no table knows
	implied       []bailiff.Implied // where its programs find what they run
	allPaths      bool
	reaches       bool
	plain         bool
	call          []string
	origins       []bailiff.Origin
	hosts         []string
	loads         []string      // those of which the session may have filled some
	folder        string        // from which its files are seen
	runs          []bailiff.Run // those of the files that the session filled before
	before, after []byte        // the input document as JSON, around the value of its time
	size          int
}

// NewRequests remembers nothing yet, for policies that read some parts of histories.
func NewRequests(history document.HistoryParts) *Requests {
	return &Requests{recent.NewSized[string](maxJudgements, maxJudgementBytes, func(k *entry) int { return k.size }), history}
}

// Empty is one for the same policies that remembers nothing yet.
func (m *Requests) Empty() *Requests { return NewRequests(m.history) }

// Key holds everything that a judgement depends on, of the time no more than its day. Each part
// says where it ends, so that no two requests have one key. It is empty if the
// judgement is not to be remembered.
func (m *Requests) Key(req bailiff.Request, at bailiff.Circumstances) string {
	if m == nil || at.Spent != nil { // which differs for almost each request
		return ""
	}
	var k keyWriter
	k.Grow(512)
	k.text(document.Date(at.Time))
	k.text(string(req.Tool))
	k.args(req.Args)
	k.text(req.Caller)
	k.text(req.Peer)
	k.session(req.Session)
	k.list(req.Env)
	k.text(req.Backend)
	k.list(at.EnvAvailable)
	k.text(at.Requester.Person)
	k.list(at.Requester.Groups)
	k.list(at.Requester.Own)
	k.backends(at.Backends)
	k.files(at.Files)
	k.contents(at.Contents)
	k.ground(at.Ground)
	k.list(at.Scripts)
	k.text(m.history.Key(at.History))
	if k.Len() > largestJudgement {
		return ""
	}
	return k.String()
}

type keyWriter struct{ strings.Builder }

func (k *keyWriter) number(n int) {
	var buffer [binary.MaxVarintLen64]byte
	k.Write(binary.AppendVarint(buffer[:0], int64(n)))
}

func (k *keyWriter) text(s string) {
	k.number(len(s))
	k.WriteString(s)
}

func (k *keyWriter) list(all []string) {
	k.number(len(all))
	for _, s := range all {
		k.text(s)
	}
}

func (k *keyWriter) flag(set bool) {
	if set {
		k.number(1)
	} else {
		k.number(0)
	}
}

func (k *keyWriter) args(a bailiff.Args) {
	for _, s := range [...]string{a.Command, a.Stdin, a.Workdir, a.Code, a.Action, a.ProcessID, a.Data, a.Name, a.Arguments, a.Server,
		a.URL, a.Typed.Digest, a.Typed.End} {
		k.text(s)
	}
	k.number(a.Timeout)
	k.flag(a.Background)
	k.flag(a.Reset)
	k.flag(a.Trusted)
	k.flag(a.Typed.Opaque)
}

func (k *keyWriter) session(s bailiff.Session) {
	for _, t := range [...]string{s.ID, s.Platform, s.ChatType, s.ChatID, s.ThreadID, s.UserID, s.UserName, s.Profile, s.Job} {
		k.text(t)
	}
	k.flag(s.Unattended)
	k.text(s.Agent.ID)
	k.text(s.Agent.Parent)
	k.number(s.Agent.Depth)
}

func (k *keyWriter) backends(all map[string]bailiff.BackendState) {
	k.number(len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		k.text(name)
		k.flag(all[name].Isolated)
		k.flag(all[name].Ready)
		k.flag(all[name].Undo)
	}
}

// files that were not read differ from none.
func (k *keyWriter) files(all []bailiff.File) {
	k.flag(all != nil)
	k.number(len(all))
	for _, f := range all {
		k.text(f.Path)
		k.text(f.SHA256)
	}
}

func (k *keyWriter) contents(all []bailiff.Content) {
	k.number(len(all))
	for _, c := range all {
		k.text(c.Path)
		k.text(c.SHA256)
		k.number(int(c.Kind))
		k.flag(c.Recent)
	}
}

// ground is without the working folder and what programs run by themselves, by which nothing is judged.
func (k *keyWriter) ground(g bailiff.Ground) {
	k.flag(g.Unseen)
	k.number(len(g.Links))
	for _, l := range g.Links {
		k.text(l.Path)
		k.list(l.Targets)
	}
	k.list(g.Known)
	k.flag(g.Sought)
	k.files(g.Unknown)
	k.list(g.Asked)
}

// Recall gives the judgement that is remembered under a key to a request that comes at another time; it is false where there is
// none.
func (m *Requests) Recall(key string, j *bailiff.Judgement, at bailiff.Circumstances) bool {
	if key == "" {
		return false
	}
	k, known := m.judgements.Get(key)
	if known = known && document.SameRuns(k.runs, document.Runs(at, k.folder, k.loads)); known {
		k.tell(j, at)
	}
	return known
}

// Keep remembers a judgement, if it is sound and not too large. The judgement's
// input document is then the one that was written for the memo.
func (m *Requests) Keep(key string, j *bailiff.Judgement, folder string, at bailiff.Circumstances) {
	input, ok := j.Input.(document.JSON)
	if key == "" || j.Fault != nil || !ok {
		return
	}
	k, err := newEntry(j, input)
	if err != nil {
		return
	}
	k.folder, k.runs = folder, document.Runs(at, folder, k.loads)
	j.Input = written{k, at.Time, at.History}
	if k.size += len(key); k.size <= largestJudgement {
		m.judgements.Put(key, k)
	}
}

func newEntry(j *bailiff.Judgement, input document.JSON) (*entry, error) {
	k := &entry{decision: cloned(j.Decision), files: slices.Clone(j.Files), opens: slices.Clone(j.Opens), paths: slices.Clone(j.Paths),
		implied: slices.Clone(j.Implied), allPaths: j.AllPaths, plain: j.Plain, reaches: j.Reaches, call: slices.Clone(j.Call),
		unknown: slices.Clone(j.Unknown), origins: slices.Clone(j.Origins), hosts: slices.Clone(j.Hosts),
		loads: slices.Clone(j.Loads)}
	var err error
	if k.before, k.after, err = input.Around(); err != nil {
		return nil, err
	}
	k.size = len(k.before) + len(k.after) + sizeOfDecision(j.Decision) + sizeOfWords(j.Paths) + sizeOfWords(j.Unknown) +
		sizeOfWords(j.Hosts) + sizeOfWords(j.Loads) + eachSize*(len(j.Implied)+2*len(j.Origins))
	return k, nil
}

// eachSize is about what an item takes beside its text.
const eachSize = 64

// sizeOfDecision is how many bytes a decision takes, or nearly so.
func sizeOfDecision(d bailiff.Decision) int {
	const itself = 1024
	size := itself + sizeOfReasons(d.Denials) + eachSize*(len(d.Env.Withheld)+len(d.Env.Swap))
	if d.Approval != nil {
		size += sizeOfReasons(d.Approval.Reasons)
	}
	for _, m := range d.Backend.Mounts {
		size += eachSize + len(m.Source) + len(m.Target) + sizeOfWords(m.Protected)
	}
	for name, value := range d.Env.Set {
		size += eachSize + len(name) + len(value)
	}
	return size + sizeOfWords(d.Backend.Egress) + sizeOfWords(d.Env.Forward) + sizeOfWords(d.Env.Sealed) + sizeOfWords(d.Tools) +
		sizeOfWords(d.CredentialsRead) + sizeOfWords(d.Env.FromUser) + sizeOfWords(d.Observed) + 2*eachSize*len(d.Budgets)
}

func sizeOfReasons(all []bailiff.Reason) (size int) {
	for _, r := range all {
		size += 2*eachSize + len(r.Rule) + len(r.Message) + len(r.Match) + len(r.Instead) + sizeOfWords(r.Attack)
	}
	return size
}

func sizeOfWords(all []string) (size int) {
	for _, word := range all {
		size += eachSize/2 + len(word)
	}
	return size
}

// tell gives the remembered judgement to a request that comes at another time.
func (k *entry) tell(j *bailiff.Judgement, at bailiff.Circumstances) {
	j.Decision, j.Plain, j.Input = cloned(k.decision), k.plain, written{k, at.Time, at.History}
	j.Files, j.Opens, j.Call = slices.Clone(k.files), slices.Clone(k.opens), slices.Clone(k.call)
	j.Unknown, j.Origins, j.Hosts = slices.Clone(k.unknown), slices.Clone(k.origins), slices.Clone(k.hosts)
	j.Paths, j.AllPaths, j.Implied, j.Reaches = slices.Clone(k.paths), k.allPaths, slices.Clone(k.implied), k.reaches
	j.Loads = slices.Clone(k.loads)
}

// written is an input document that needs nothing but its time to be JSON.
type written struct {
	*entry
	at      time.Time
	history *bailiff.SessionHistory
}

// MarshalJSON writes the document as the policies saw it, or one that differs
// from it in the time and in parts of the history only that no policy reads.
func (w written) MarshalJSON() ([]byte, error) {
	to := make([]byte, 0, len(w.before)+len(w.after)+len(time.RFC3339Nano)+2)
	to = append(to, w.before...)
	to = document.AppendString(to, document.Instant(w.at))
	if to = append(to, w.after...); w.history == nil {
		return to, nil
	}
	return document.AppendHistory(to, document.History(w.history, w.runs))
}

// cloned shares nothing that can be changed with the decision.
func cloned(d bailiff.Decision) bailiff.Decision {
	d.Denials = clonedReasons(d.Denials)
	d.Approval = clonedTerms(d.Approval)
	d.Backend.Egress, d.Backend.Mounts = slices.Clone(d.Backend.Egress), slices.Clone(d.Backend.Mounts)
	for i, m := range d.Backend.Mounts {
		d.Backend.Mounts[i].Protected = slices.Clone(m.Protected)
	}
	d.Env.Forward, d.Env.Sealed = slices.Clone(d.Env.Forward), slices.Clone(d.Env.Sealed)
	d.Env.Swap, d.Env.FromUser = slices.Clone(d.Env.Swap), slices.Clone(d.Env.FromUser)
	for i, swap := range d.Env.Swap {
		d.Env.Swap[i].Hosts, d.Env.Swap[i].In = slices.Clone(swap.Hosts), slices.Clone(swap.In)
	}
	d.Env.Withheld, d.Env.Set = slices.Clone(d.Env.Withheld), maps.Clone(d.Env.Set)
	d.Tools, d.Advise, d.CredentialsRead = slices.Clone(d.Tools), slices.Clone(d.Advise), slices.Clone(d.CredentialsRead)
	d.Observed, d.Budgets = slices.Clone(d.Observed), slices.Clone(d.Budgets)
	return d
}

func clonedTerms(of *bailiff.ApprovalTerms) *bailiff.ApprovalTerms {
	if of == nil {
		return nil
	}
	terms := *of
	terms.Reasons, terms.Scopes = clonedReasons(terms.Reasons), slices.Clone(terms.Scopes)
	return &terms
}

func clonedReasons(reasons []bailiff.Reason) []bailiff.Reason {
	clone := slices.Clone(reasons)
	for i := range clone {
		clone[i].Attack = slices.Clone(clone[i].Attack)
	}
	return clone
}
