package bailiff

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Claim is what a human is asked to approve, and what a grant must cover: a
// request with the decision it got, and the files that its text runs.
type Claim struct {
	Request  Request
	Decision Decision
	// DecisionID is the decision's in the decision log.
	DecisionID string
	// TraceID is of the trace that the request is exported in; empty if it is in none.
	TraceID string
	// Files are those that the text runs or sources, or by which it may come to mean something
	// else, as they were in the sandbox.
	Files []File
	// Unbound are the names of such files for which no content stands. A claim that has any
	// is granted once only.
	Unbound []string
	// Ground is what was found of the paths that the text names.
	Ground Ground
	// Plain says that the text is what it seems wherever it stands, see [Judgement].
	Plain bool
	// Call is the program and the arguments of a text that is one call, see [Judgement].
	Call []string
	// Input is the input document that the policies saw.
	Input json.Marshaler
	// HeldUntil is how long a connection of a request that runs waits for the answer; zero for
	// a request that has not begun.
	HeldUntil time.Time
}

// File is a file of a sandbox by its content.
type File struct {
	Path string `json:"path"`
	// SHA256 is the content's, in hexadecimal; empty when there is no such file.
	SHA256 string `json:"sha256"`
}

// Content is a file of a sandbox as far as it was read.
type Content struct {
	File
	Kind ContentKind
	Text string
	// Recent says that the session may have made the file what it is: it was written, moved
	// or linked within [RecentlyMade].
	Recent bool
}

// RecentlyMade is how long a file counts as made by the session.
const RecentlyMade = time.Hour

// ContentKind says what is known of a file's content.
type ContentKind int

// The kinds of content. Only text is known as a whole; what is unread is too
// large, or no plain file. A pattern of names is missing once all files that match it were found.
const (
	ContentUnread ContentKind = iota
	ContentText
	ContentCompiled
	ContentMissing
	ContentFolder
)

// bound is all that an approval holds for.
type bound struct {
	Tool    Tool
	Args    Args
	Caller  string
	Peer    string
	Session Session
	Env     []string
	Files   []File
	Links   []Link `json:",omitempty"` // as if they were not there where nothing is looked at
	Folder  string `json:",omitempty"`
	Unseen  bool   `json:",omitempty"`
	// Settings are as if they were not there where a text runs no program that has any.
	Settings []File `json:",omitempty"`
	Backend  BackendTerms
	Set      map[string]string
	Sealed   []string
	Swap     []Swap `json:",omitempty"` // as if it were not there where nothing is swapped
	Limits   Limits
	Tools    []string
	Reasons  []Pair
}

func (c Claim) bound() bound {
	session := c.Request.Session
	session.UserName = "" // a display name says nothing about who it is
	reasons := c
	reasons.Files = nil // bound below, by themselves
	return bound{
		Tool: c.Request.Tool, Args: c.Request.Args, Caller: c.Request.Caller, Peer: c.Request.Peer, Session: session,
		Env: slices.Sorted(slices.Values(c.Decision.Env.Forward)), Files: c.sortedFiles(), Links: c.Ground.Links, Folder: c.Ground.Folder,
		Unseen: c.Ground.Unseen, Settings: c.Ground.Settings, Backend: c.Decision.Backend,
		Set: c.Decision.Env.Set, Sealed: slices.Sorted(slices.Values(c.Decision.Env.Sealed)),
		Swap:   c.Decision.Env.Swap,
		Limits: c.Decision.Limits, Tools: slices.Sorted(slices.Values(c.Decision.Tools)), Reasons: reasons.Pairs(),
	}
}

func (c Claim) sortedFiles() []File {
	return slices.SortedFunc(slices.Values(c.Files), func(a, b File) int { return strings.Compare(a.Path, b.Path) })
}

// Digest is the SHA-256, in hexadecimal, of all that an approval is bound to:
// tool, arguments, caller and its user, session and user, the names of forwarded variables,
// the content of the files that the text runs, the links on the way of the paths that it names and
// what these lead to, the working folder itself, every obligation, and why approval is due. The time, the
// readiness of backends, the request's id and how long its caller waits do not count.
func (c Claim) Digest() string {
	sum := sha256.Sum256(encoded(c.bound()))
	return hex.EncodeToString(sum[:])
}

// Drift says in words what is not as it was in an approved claim; it is empty
// exactly when both have one digest.
func (c Claim) Drift(approved Claim) string {
	is, was := reflect.ValueOf(c.bound()), reflect.ValueOf(approved.bound())
	var said []string
	for i := range is.NumField() {
		if !bytes.Equal(encoded(is.Field(i).Interface()), encoded(was.Field(i).Interface())) {
			said = append(said, driftWords[is.Type().Field(i).Name])
		}
	}
	return strings.Join(said, ", ")
}

// driftWords name the fields of bound.
var driftWords = map[string]string{
	"Tool": "the tool", "Args": "the arguments", "Caller": "the caller", "Peer": "the user that the caller runs as",
	"Session": "the session",
	"Env":     "the forwarded variables", "Files": "a file that the command runs",
	"Links": "what a path of the command leads to", "Folder": "the working folder",
	"Unseen":   "how far the paths of the command could be looked at",
	"Settings": "what a program of the command starts by itself",
	"Backend":  "the backend or its terms",
	"Set":      "the variables that the policies set", "Sealed": "the sealed variables",
	"Swap": "where the values of variables may go", "Limits": "the limits",
	"Tools":   "the tools that a script may call",
	"Reasons": "the reasons for asking",
}

func encoded(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings, numbers and booleans only: cannot fail
	}
	return text
}

// Pairs are the reasons of a claim with what they hold for, sorted and each once.
func (c Claim) Pairs() []Pair {
	if c.Decision.Approval == nil {
		return nil
	}
	context := c.context()
	pairs := make([]Pair, len(c.Decision.Approval.Reasons))
	for i, r := range c.Decision.Approval.Reasons {
		pairs[i] = Pair{r.Rule, r.Match, cmp.Or(c.Ground.program(r), context)}
	}
	slices.SortFunc(pairs, func(a, b Pair) int {
		return cmp.Or(strings.Compare(a.Rule, b.Rule), strings.Compare(a.Match, b.Match), strings.Compare(a.Context, b.Context))
	})
	return slices.Compact(pairs)
}

// program is what a first sight depends on: the content of the program on its machine. It is empty for
// other reasons, and where the program has no content that stands.
func (g Ground) program(because Reason) string {
	if because.Rule != RunsUnknownProgram {
		return ""
	}
	for _, file := range g.Unknown {
		if file.Path == because.Match && file.SHA256 != "" {
			return "program " + file.SHA256 + " on " + g.Host
		}
	}
	return ""
}

// context is what a match depends on besides itself. What a plain text names is
// known by the folder in which the session stands; in any other text (it changes
// folders, goes through another program, sets what programs are found by …) the
// same match can mean anything, so that it holds for that very text only, and for the
// content of the files that the text runs.
//
// Where the paths were looked at, either holds for the same folder by its inode, and while the same parts of
// paths are links that lead to the same.
func (c Claim) context() string {
	var ground string
	if len(c.Ground.Links)+len(c.Ground.Settings) > 0 || c.Ground.Folder != "" {
		sum := sha256.Sum256(encoded(c.Ground))
		ground = " on " + hex.EncodeToString(sum[:16])
	}
	if c.Plain {
		return c.Request.Args.Workdir + ground
	}
	text := encoded(c.Request.Args)
	if len(c.Files) > 0 {
		text = append(text, encoded(c.sortedFiles())...)
	}
	sum := sha256.Sum256(text)
	return "text " + hex.EncodeToString(sum[:]) + ground
}

// Pair is a reason for asking, as a grant covers it: the rule that spoke, the
// part of the request that it found, and where that is: the folder of a plain
// text (empty where a session starts), or "text " and the digest of any other. At the first sight of a program it is "program "
// and the digest of that.
type Pair struct {
	Rule    string `json:"rule"`
	Match   string `json:"match"`
	Context string `json:"context,omitempty"`
}

// The scopes of a grant, from the narrowest: this one request, what it was asked
// for in this session for a while, and for this user until it is revoked.
const (
	ScopeOnce    = "once"
	ScopeSession = "session"
	ScopeAlways  = "always"
)

// ApprovalState is what became of a question to humans.
type ApprovalState string

// The states of an approval; every one but the first is final.
const (
	ApprovalPending  ApprovalState = "pending"
	ApprovalApproved ApprovalState = "approved"
	ApprovalDenied   ApprovalState = "denied"
	// ApprovalExpired: no approver answered in time, or none could have.
	ApprovalExpired ApprovalState = "expired"
	// ApprovalVoid: it was approved, but what would run is no longer what was
	// approved.
	ApprovalVoid ApprovalState = "void"
	// ApprovalCancelled: an operator froze the session or user.
	ApprovalCancelled ApprovalState = "cancelled"
	// ApprovalUnreachable: it could be put to no approver, since no channel worked.
	ApprovalUnreachable ApprovalState = "unreachable"
)

// Approval is a question to humans and its answer, as requesters and the
// decision log are told of it.
type Approval struct {
	ID    string        `json:"id"`
	State ApprovalState `json:"state"`
	// Scope is what was granted.
	Scope string `json:"scope,omitempty"`
	// By names the people who answered, Via the credentials and channels by
	// which they did.
	By  string `json:"by,omitempty"`
	Via string `json:"via,omitempty"`
	// ExpiresAt is when a pending one ends unanswered, or the grant of an
	// approved one ends; zero means never.
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	// Message is one sentence: who can answer a pending one and where, or why the
	// answer is what it is.
	Message string `json:"message,omitempty"`
	// Channels are where a pending one can be answered, of [ChannelOperator] and
	// [ChannelConsole].
	Channels []string `json:"channels,omitempty"`
}

// Verdict is what an approver says.
type Verdict struct {
	Approve bool
	// Scope is what an approval leaves; empty means the narrowest.
	Scope  string
	Reason string
	// Match is a pattern of the request's words that the approval holds for; empty means what
	// the reasons found.
	Match string
	// For is how long the yes holds and Times how often, both at most; zero leaves that to the policies. With one of them and no
	// Scope the yes is for the session, or for once where it is for one time.
	For   time.Duration
	Times int
}
