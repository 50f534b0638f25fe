package bailiff

import (
	"encoding/json"
	"io/fs"
	"slices"
	"strings"
)

// Decision is what the policies answer to a request: the document
// data.bailiff.decision, completed with the revision that gave it.
type Decision struct {
	Outcome Outcome `json:"outcome"`
	// Denials are the reasons of a denial; empty otherwise.
	Denials []Reason `json:"denials"`
	// Approval is set when the outcome is [Ask].
	Approval *ApprovalTerms `json:"approval,omitempty"`
	Obligations
	// Advise are sentences for the model, beside what the request printed; they change nothing of the decision.
	Advise []Advice `json:"advise,omitempty"`
	// CredentialsRead says of a request that may run which credentials it reads, for the session's history: by what was found, or by
	// the rule where the text does not tell.
	CredentialsRead []string `json:"credentials_read,omitempty"`
	// Observed are rules that would have asked or denied and were only observed, WithoutObserve is what the outcome would have been.
	Observed       []string `json:"observed,omitempty"`
	WithoutObserve string   `json:"without_observe,omitempty"`
	// Budgets are those that hold for a request that may run, with what was left of each.
	Budgets []Budget `json:"budgets,omitempty"`
	// Revision is the SHA-256 of the loaded policies.
	Revision string `json:"revision"`
}

// Advice is a sentence for the model, by the rule that spoke.
type Advice struct {
	Rule    string `json:"rule"`
	Message string `json:"message"`
}

// Notes are the sentences for the model, each once.
func (d Decision) Notes() (said []string) {
	for _, a := range d.Advise {
		if len(said) < mostReasons && !slices.Contains(said, a.Message) {
			said = append(said, a.Message)
		}
	}
	return said
}

// Obligations are what the enforcer must meet or else refuse.
type Obligations struct {
	Backend BackendTerms `json:"backend"`
	Env     EnvTerms     `json:"env"`
	Limits  Limits       `json:"limits"`
	// Tools are those that a script may call back, of [Terminal] and the names of
	// tools that the agent registered.
	Tools []string `json:"tools,omitempty"`
	// Snapshot orders one of the folders of the host that the request may write, before it runs.
	Snapshot bool `json:"snapshot,omitempty"`
}

// BackendAliases are the other names that policies and requests may call backends by.
var BackendAliases = map[string]string{"singularity": "apptainer"}

// BackendName is the name that a backend is configured by.
func BackendName(called string) string {
	if name, ok := BackendAliases[called]; ok {
		return name
	}
	return called
}

// Reason is one rule that spoke.
type Reason struct {
	Rule    string `json:"rule"`
	Message string `json:"message"`
	// Match is the part of the request that the rule found, if it names one.
	Match string `json:"match,omitempty"`
	// Instead is one sentence: what would be allowed in its place, if the rule says so.
	Instead string `json:"instead,omitempty"`
	// Severity is "low", "medium", "high" or "critical" where the policies grade the finding.
	Severity string `json:"severity,omitempty"`
	// Attack are the techniques of MITRE ATT&CK that the finding may be, such as T1059.004.
	Attack []string `json:"attack,omitempty"`
	// Hidden keeps the reason from the requester; people and the
	// decision log see it.
	Hidden bool `json:"hidden,omitempty"`
}

// Reasons are what the policies said against letting the request run at once.
func (d Decision) Reasons() []Reason {
	if d.Approval != nil {
		return d.Approval.Reasons
	}
	return d.Denials
}

// Rules are those of its reasons.
func (d Decision) Rules() (all []string) {
	for _, reason := range d.Reasons() {
		all = append(all, reason.Rule)
	}
	return all
}

// ForSender is the decision as the sender of the request is told it: a hidden reason
// is there without what it says, and what is observed is not there.
func (d Decision) ForSender() Decision {
	d.Denials, d.CredentialsRead, d.Observed, d.WithoutObserve = told(d.Denials), nil, nil, ""
	if d.Approval != nil {
		terms := *d.Approval
		terms.Reasons = told(terms.Reasons)
		d.Approval = &terms
	}
	return d
}

func told(reasons []Reason) []Reason {
	if !slices.ContainsFunc(reasons, func(r Reason) bool { return r.Hidden }) {
		return reasons
	}
	open := make([]Reason, len(reasons))
	for i, r := range reasons {
		if open[i] = r; r.Hidden {
			open[i] = Reason{Rule: "hidden", Message: "The policies do not say why.", Hidden: true}
		}
	}
	return open
}

// ApprovalTerms say why a human must approve and what an approval may leave.
type ApprovalTerms struct {
	Reasons        []Reason `json:"reasons"`
	Scopes         []string `json:"scopes"`
	TimeoutSeconds int      `json:"timeout_seconds"`
	GrantSeconds   int      `json:"grant_seconds"`
	Quorum         int      `json:"quorum"`
	// Patterns says that a person may approve a pattern of the request's words.
	Patterns bool `json:"patterns,omitempty"`
	// CoversAgents says that a yes for longer than once holds for the agents, too, that the one which asks starts.
	CoversAgents bool `json:"covers_agents,omitempty"`
}

// BackendTerms say where a request runs and how tightly that place is closed.
type BackendTerms struct {
	Name  string `json:"name"`
	Image string `json:"image"`
	// Runtime is what makes and runs the sandbox, where the backend has several; empty means the backend's own.
	Runtime string `json:"runtime,omitempty"`
	// Scope is who shares the sandbox: "session", "user" or "request".
	Scope string `json:"scope"`
	// IdleSeconds is how long the sandbox stays unused, MaxSeconds how
	// long any stays; zero means a day.
	IdleSeconds int `json:"idle_seconds"`
	MaxSeconds  int `json:"max_seconds,omitempty"`
	// Persistent keeps the workspace when the sandbox goes.
	Persistent bool `json:"persistent,omitempty"`
	// Network is "none", "egress" or "full".
	Network  string   `json:"network"`
	Egress   []string `json:"egress"`
	CPUs     float64  `json:"cpus"`
	MemoryMB int      `json:"memory_mb"`
	DiskMB   int      `json:"disk_mb"`
	// WorkspaceMB, in MiB, and WorkspaceFiles, files and folders, are what may be in the workspace.
	WorkspaceMB    int     `json:"workspace_mb,omitempty"`
	WorkspaceFiles int     `json:"workspace_files,omitempty"`
	PIDs           int     `json:"pids"`
	ReadOnly       bool    `json:"read_only"`
	Mounts         []Mount `json:"mounts"`
}

// Place is where a request runs, as people are told it: the backend, the image, the runtime.
func (b BackendTerms) Place() string {
	place := strings.TrimSpace(b.Name + " " + b.Image)
	if b.Runtime != "" {
		place += ", runtime " + b.Runtime
	}
	return place
}

// Mount is a folder of the host that the policies show inside a sandbox.
type Mount struct {
	Source   string `json:"source"`
	Target   string `json:"target"`
	ReadOnly bool   `json:"read_only"`
	// Protected are the files and folders (with a slash at the end) below Source that commands
	// must leave as they are, though they may write the folder; "*" is one part of a path, and
	// [AnyDepth] is before files that count in each folder.
	Protected []string `json:"protected,omitempty"`
}

// AnyDepth is the beginning of a protected place that stands for files in each folder below a mount, the mount itself among them.
const AnyDepth = "**/"

// Repositories is the protected place that stands for the repositories of git below a mount.
const Repositories = AnyDepth + ".git"

// IsProtectable says whether a text can be one of the protected places of a mount: a path with "*" for a whole part, or [AnyDepth]
// and a file with at most one folder, or "*." and the end of its name.
func IsProtectable(text string) bool {
	plain, isAnyDepth := strings.CutPrefix(text, AnyDepth)
	if isAnyDepth {
		end, isEnd := strings.CutPrefix(plain, "*.")
		return fs.ValidPath(end) && end != "." && !strings.ContainsAny(end, "*?[\\") && strings.Count(end, "/") < 2 &&
			!(isEnd && strings.ContainsAny(end, "./"))
	}
	plain = strings.TrimSuffix(text, "/")
	return fs.ValidPath(plain) && plain != "." && !strings.ContainsAny(strings.ReplaceAll("/"+plain+"/", "/*/", "/"), "*?[\\")
}

// EnvTerms say which variables enter. Forward holds names only; Set holds
// constants of the policy, which are not secret.
type EnvTerms struct {
	Forward  []string          `json:"forward"`
	Withheld []Withheld        `json:"withheld"`
	Set      map[string]string `json:"set"`
	// Sealed lists those of Forward for which the request gets a fresh sandbox
	// and workspace of its own.
	Sealed []string `json:"sealed,omitempty"`
	// Swap lists those of Forward for which the sandbox gets a stand-in only.
	Swap []Swap `json:"swap,omitempty"`
	// FromUser lists those of Forward whose value is the requester's own, and no one else's.
	FromUser []string `json:"from_user,omitempty"`
}

// Withheld is a requested variable that does not enter, and the rule that kept it out.
type Withheld struct {
	Name string `json:"name"`
	Rule string `json:"rule"`
}

// WithheldBy is what a requester is told of the variables that did not enter, a line
// each. Of one that enters for other programs only it is told where the command failed.
func (d Decision) WithheldBy(failed bool) (said []string) {
	for _, held := range d.Env.Withheld {
		switch {
		case held.Rule != ruleOtherProgram:
			said = append(said, held.Name+" was withheld ("+held.Rule+").")
		case failed:
			said = append(said, held.Name+" was withheld ("+held.Rule+"): it enters for its own programs only; send the one command that "+
				"needs it alone.")
		}
	}
	return said
}

// ruleOtherProgram keeps a variable out that is for other programs than those that run.
const ruleOtherProgram = "env.program"

// Limits bound one execution.
type Limits struct {
	TimeoutSeconds int `json:"timeout_seconds"`
	OutputBytes    int `json:"output_bytes"`
	// BackgroundSeconds is how long a background process may run; zero means as
	// long as its sandbox stays.
	BackgroundSeconds int `json:"background_seconds,omitempty"`
	// Processes is how many background processes the session may have at once;
	// zero means the enforcer's own bound.
	Processes int `json:"processes,omitempty"`
}

// Origin says where the content of a file comes from that a request fills.
type Origin struct {
	// Path ends in "/" for a folder that is filled. Beside is the folder that an archive is expected to make where others lie too.
	Path, Beside string
	// How is one of [Downloaded], [Decoded], [Compiled] and [Derived], From the files of which it is made.
	How  string
	From []string
	// Later says that it may be filled when the request has ended.
	Later bool
}

// How a file got its content.
const (
	Downloaded = "downloaded"
	Decoded    = "decoded"
	Compiled   = "compiled"
	// Derived: as one of the files of which it is made.
	Derived = "derived"
)

// Judgement is a decision with what the decision log keeps beside it.
type Judgement struct {
	Decision Decision
	// Input is the input document as the policies saw it; nil when the request
	// never became one.
	Input json.Marshaler
	// Files are the paths of the files that the request's text runs or sources,
	// relative ones as seen from its working folder.
	Files []string
	// Opens are the paths, spelt alike, of other files by which the text may come to mean
	// something else. An approval is bound to them as far as they have a content.
	Opens []string
	// Paths are those that the text names, spelt alike. AllPaths is false where there are more.
	Paths    []string
	AllPaths bool
	// Unknown are the programs of the text that no table knows: by their names, or by the paths of their files, spelt as Files.
	Unknown []string
	// Implied are the places where programs of the text find by themselves what they run.
	Implied []Implied
	// Plain says that each name in the text is known by the folder in which it
	// stands, and each program by its name: the text changes no folder, goes
	// through no other program, sets nothing, and hides nothing. Of what is typed to
	// a shell it says more: the shell reads the next text as if this were none.
	Plain bool
	// Call is the program and the arguments of a plain text that is one call and nothing else.
	Call []string
	// Changes are the files, folders and patterns of these that the text names and would write or delete, absolute ones.
	// AllChanges is false where there are more.
	Changes    []string
	AllChanges bool
	// Discards says that the text calls git, which may discard files that the text does not name.
	Discards bool
	// Reaches says that the text names hosts which its programs reach.
	Reaches bool
	// Loads are Files, those that would be modules which the text loads by their names, and patterns of those that its programs find.
	Loads []string
	// Hosts are those that the text names, Origins of the files that it fills from elsewhere.
	Hosts   []string
	Origins []Origin
	// Timers are durations in nanoseconds, named as in OPA's decision log.
	Timers map[string]int64
	// Fault is why the policies gave no decision; the decision then denies.
	Fault error
}

// RunsUnknownProgram is the rule that asks at the first sight of a program.
const RunsUnknownProgram = "command.runs_unknown_program"

// CallsUnsoughtProgram is the rule of a program that no table knows, where no host was looked at.
const CallsUnsoughtProgram = "command.calls_unsought_program"

// Denial is the decision where the policies could give none.
func Denial(rule, message string) Decision {
	return Decision{Outcome: Deny, Denials: []Reason{{Rule: rule, Message: message}}}
}
