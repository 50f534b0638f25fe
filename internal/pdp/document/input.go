// Package document makes the input document that policies are asked about, of a request or a connection, and reads those of the
// decision log.
//
// Here: what is known of a request by itself ([Read]), the document that is made of it with its circumstances, and the document as
// JSON ([JSON]).
//
// Promised: the document is written as the policies saw it, and has all that the schema of the policies names. Text that is no
// UTF-8 is replaced in both alike.
//
// Not here: what a text would do (package facts); the answer (package answers).
package document

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/facts"
)

// Reading is what there is to know of a request by itself; one of the three is set.
type Reading struct {
	Command *facts.Command
	Code    *facts.Code
	// arguments are those of a call.
	arguments ast.Object
	// fault is why a call has none.
	Fault error
	// ground holds the paths that the text names.
	ground *facts.Ground
	// sights are the programs of the text that no entry describes.
	sights facts.Sights
}

// Read reads what the text of a request would do; home is the home folder of whom it runs as.
func Read(req bailiff.Request, at bailiff.Circumstances, home string) Reading {
	ground := groundOf(at.Ground)
	place := facts.Place{Workdir: req.Args.Workdir, Home: home, Contents: contentsOf(at.Contents, at.Ground), Ground: ground}
	r := read(req, at, place)
	if command := cmp.Or(r.Command, commandOf(r.Code)); command != nil {
		r.sights = facts.SightsOf(*command, place, at.Ground)
	}
	return r
}

func read(req bailiff.Request, at bailiff.Circumstances, place facts.Place) Reading {
	ground := place.Ground
	switch req.Tool {
	case bailiff.ExecuteCode:
		place.Fresh = hasOwnInterpreter(req, at)
		if len(at.Scripts) > 0 {
			place.Earlier = &at.Scripts
		}
		code := facts.Python(req.Args.Code, place)
		code.Complete = code.Complete && !at.Ground.Unseen
		return Reading{Code: &code, ground: ground}
	case bailiff.Process:
		command := typed(req.Args, place)
		command.Complete = command.Complete && !at.Ground.Unseen
		return Reading{Command: &command, ground: ground}
	case bailiff.Call, bailiff.MCP:
		return readCall(req.Args.Arguments)
	default:
		command := shell(req.Args, place)
		command.Complete = command.Complete && !at.Ground.Unseen
		return Reading{Command: &command, ground: ground}
	}
}

// groundOf is where a text runs, as far as it was looked at.
func groundOf(found bailiff.Ground) *facts.Ground {
	ground := &facts.Ground{Links: make(map[string][]string, len(found.Links))}
	for _, l := range found.Links {
		ground.Links[l.Path] = l.Targets
	}
	return ground
}

// hasOwnInterpreter says that a program runs in an interpreter that has run nothing before, as on a backend that isolates nothing.
// Without a wish, the policies choose among all backends.
func hasOwnInterpreter(req bailiff.Request, at bailiff.Circumstances) bool {
	if wish, given := at.Backends[req.Backend]; given {
		return !wish.Isolated
	}
	for _, b := range at.Backends {
		if b.Isolated {
			return false
		}
	}
	return len(at.Backends) > 0
}

// contentsOf are the files whose text is judged as part of a request's, by their paths. No session made what is known; and where people
// are asked about the content of a file, its text need tell no more.
func contentsOf(read []bailiff.Content, found bailiff.Ground) *facts.Contents {
	if len(read) == 0 {
		return nil
	}
	contents := make(facts.Contents, len(read))
	for _, c := range read {
		isSettled := slices.Contains(found.Known, c.Path) || slices.Contains(found.Asked, c.Path)
		c.Recent = c.Recent && !isSettled
		if c.Kind == bailiff.ContentCompiled && (c.Recent || isSettled) { // what it was made of may have been written just now
			contents[c.Path] = facts.Content{Recent: c.Recent}
		}
		switch c.Kind {
		case bailiff.ContentText, bailiff.ContentUnread, bailiff.ContentFolder:
			contents[c.Path] = facts.Content{Text: c.Text, Known: c.Kind == bailiff.ContentText, Recent: c.Recent,
				Folder: c.Kind == bailiff.ContentFolder}
		}
	}
	return &contents
}

// readCall reads the arguments of a call. Where they are no object, no policy can
// read them, and the call is denied.
func readCall(text string) Reading {
	if value, err := ast.ValueFromReader(strings.NewReader(text)); err == nil && meansOne(text) {
		if arguments, ok := value.(ast.Object); ok {
			return Reading{arguments: arguments}
		}
	}
	return Reading{arguments: ast.NewObject(),
		Fault: errors.New("reading the arguments of the call: want the text of one JSON object that names nothing twice")}
}

// typed is what a process is given to read. Unless a shell reads it that is as it
// was when it was started, the text does not tell what it means.
func typed(a bailiff.Args, place facts.Place) facts.Command {
	if !a.IsTyped() {
		return facts.Shell(a.Data, place)
	}
	command := facts.TypedText(a.Data, a.Command, place)
	command.Complete = command.Complete && !a.Typed.Opaque
	return command
}

// meansOne says whether everybody who reads a text finds the same one value in it.
func meansOne(text string) bool {
	return json.Valid([]byte(text)) && !repeats(json.NewDecoder(strings.NewReader(text)))
}

// repeats reads one value, in which an object may give a name twice: of those some
// take the first and some the last.
func repeats(from *json.Decoder) bool {
	token, err := from.Token()
	if err != nil || token != json.Delim('{') && token != json.Delim('[') {
		return err != nil
	}
	seen := map[json.Token]bool{}
	for from.More() {
		if token == json.Delim('{') {
			name, err := from.Token()
			if err != nil || seen[name] {
				return true
			}
			seen[name] = true
		}
		if repeats(from) {
			return true
		}
	}
	_, err = from.Token()
	return err != nil
}

// Document builds the input document straight from the request, what is known of its
// circumstances and what its text would do. Nothing passes through JSON.
func (r Reading) Document(req bailiff.Request, at bailiff.Circumstances) ast.Object {
	entries := make([][2]*ast.Term, 0, 10)
	entries = append(entries,
		item(keyTool, word(string(req.Tool))),
		item(keyArgs, r.args(req)),
		item(keyCaller, object(item(keyName, text(req.Caller)))),
		item(keySession, session(req.Session)),
		item(keyEnv, variables(req.Env, at)),
		item(keyBackend, object(item(keyRequested, text(bailiff.BackendName(req.Backend))), item(keyAvailable, states(at.Backends)))),
		item(KeyTime, text(Instant(at.Time))),
		item(keyDate, text(Date(at.Time))),
	)
	switch {
	case r.Code != nil:
		entries = append(entries, item(keyCode, codeFacts(*r.Code, r.sights)), item(keyFiles, files(r.Code.Command, at.Files)))
	case r.Command != nil:
		entries = append(entries, item(keyCommand, commandFacts(*r.Command, r.sights)), item(keyFiles, files(r.Command, at.Files)))
	default:
		entries = append(entries, item(keyFiles, ast.InternedEmptyArray))
	}
	if at.Requester.Person != "" {
		entries = append(entries, item(keyRequester, object(item(keyPerson, text(at.Requester.Person)),
			item(keyGroups, list(at.Requester.Groups)))))
	}
	if at.Spent != nil {
		entries = append(entries, item(keyBudgets, budgets(at.Spent)))
	}
	if at.History != nil {
		entries = append(entries, item(KeyHistory, ast.NewTerm(History(at.History, Runs(at, req.Args.Workdir, r.Loads())))))
	}
	return ast.NewObject(entries...)
}

// budgets are what was used of budgets.
func budgets(s *bailiff.Spent) *ast.Term {
	used := make([][2]*ast.Term, 0, len(s.Used))
	for _, per := range slices.Sorted(maps.Keys(s.Used)) {
		used = append(used, item(text(per), numbers(s.Used[per])))
	}
	return object(item(keyUsed, object(used...)), item(keyUnknown, list(s.Unknown)))
}

// variables are those that a request asks for, with those that sources hold.
func variables(requested []string, at bailiff.Circumstances) *ast.Term {
	entries := [][2]*ast.Term{item(keyRequested, list(requested)), item(keyAvailable, list(at.EnvAvailable))}
	if len(at.Requester.Own) > 0 {
		entries = append(entries, item(keyOwn, list(at.Requester.Own)))
	}
	return object(entries...)
}

// Instant is a time as the input document has it.
func Instant(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// Date is the day of a time as the input document has it. Unlike the time it is the same for many requests, so that what reads
// it can be remembered.
func Date(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// args are those that belong to the tool; they are always all there.
func (r Reading) args(req bailiff.Request) *ast.Term {
	a := req.Args
	switch req.Tool {
	case bailiff.ExecuteCode:
		return object(item(keyCode, text(a.Code)), item(keyReset, ast.InternedTerm(a.Reset)),
			item(keyTimeout, ast.InternedTerm(a.Timeout)))
	case bailiff.Process:
		return object(item(keyAction, text(a.Action)), item(keyProcessID, text(a.ProcessID)), item(keyCommand, text(a.Command)),
			item(keyData, text(a.Data)), item(keyTimeout, ast.InternedTerm(a.Timeout)))
	case bailiff.MCP:
		return object(item(keyServer, text(a.Server)), item(keyName, text(a.Name)), item(keyArguments, ast.NewTerm(r.arguments)))
	case bailiff.Call:
		return object(item(keyName, text(a.Name)), item(keyArguments, ast.NewTerm(r.arguments)))
	default:
		return object(item(keyCommand, text(a.Command)), item(keyWorkdir, text(a.Workdir)),
			item(keyTimeout, ast.InternedTerm(a.Timeout)), item(keyBackground, ast.InternedTerm(a.Background)),
			item(keyStdin, text(a.Stdin)))
	}
}

func session(s bailiff.Session) *ast.Term {
	entries := [][2]*ast.Term{
		item(keyID, text(s.ID)), item(keyPlatform, text(s.Platform)), item(keyChatType, text(s.ChatType)),
		item(keyChatID, text(s.ChatID)), item(keyThreadID, text(s.ThreadID)), item(keyUserID, text(s.UserID)),
		item(keyUserName, text(s.UserName)), item(keyProfile, text(s.Profile)),
		item(keyUnattended, ast.InternedTerm(s.Unattended)),
	}
	if s.Job != "" {
		entries = append(entries, item(keyJob, text(s.Job)))
	}
	if s.Agent.IsSub() {
		entries = append(entries, item(keyAgent, object(item(keyID, text(s.Agent.ID)), item(keyParent, text(s.Agent.Parent)),
			item(keyDepth, ast.InternedTerm(s.Agent.Depth)))))
	}
	return object(entries...)
}

func states(backends map[string]bailiff.BackendState) *ast.Term {
	if len(backends) == 0 {
		return ast.InternedEmptyObject
	}
	entries := make([][2]*ast.Term, 0, len(backends)+len(bailiff.BackendAliases))
	add := func(name string, s bailiff.BackendState) {
		entries = append(entries, item(text(name), stateTerms[index(s.Undo)][index(s.Isolated)][index(s.Ready)]))
	}
	for name, s := range backends {
		add(name, s)
	}
	for alias, name := range bailiff.BackendAliases {
		if s, configured := backends[name]; configured {
			add(alias, s)
		}
	}
	return object(entries...)
}

// stateTerms hold the states that a backend can be in, by undo, isolated and ready. What cannot be undone is not told.
var stateTerms = [2][2][2]*ast.Term{
	{{stateTerm(false, false), stateTerm(false, true)}, {stateTerm(true, false), stateTerm(true, true)}},
	{
		{stateTerm(false, false, undoable), stateTerm(false, true, undoable)},
		{stateTerm(true, false, undoable), stateTerm(true, true, undoable)},
	},
}

var undoable = item(keyUndo, ast.InternedTerm(true))

func stateTerm(isolated, ready bool, more ...[2]*ast.Term) *ast.Term {
	return object(append(more, item(keyIsolated, ast.InternedTerm(isolated)), item(keyReady, ast.InternedTerm(ready)))...)
}

func index(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func commandFacts(c facts.Command, sights facts.Sights) *ast.Term {
	entries := [][2]*ast.Term{
		item(keyText, text(c.Text)), item(keyParsed, ast.InternedTerm(c.Parsed)), item(keyComplete, ast.InternedTerm(c.Complete)),
		item(keyPrograms, list(c.Programs)), item(keyCalls, calls(c.Calls)), item(keyHosts, list(c.Hosts)),
		item(keyReads, list(c.Reads)), item(keyWrites, list(c.Writes)), item(keyVariables, list(c.Variables)),
		item(keyFeatures, list(c.Features)), item(keyAssigns, list(c.Assigns)),
		item(keySettings, list(c.Settings)), item(keyLoses, list(c.Loses)),
	}
	if c.Supposed != nil {
		entries = append(entries, item(keySupposed, commandFacts(*c.Supposed, facts.Sights{})))
	}
	if len(sights.Unknown) > 0 {
		entries = append(entries, item(keyUnknown, list(sights.Unknown)))
	}
	if len(sights.Unsought) > 0 {
		entries = append(entries, item(keyUnsought, list(sights.Unsought)))
	}
	if sights.Held != nil {
		entries = append(entries, item(keyHeld, named(sights.Held)))
	}
	if len(sights.Kinds) > 0 {
		entries = append(entries, item(keyKinds, named(sights.Kinds)))
	}
	if c.Code != nil {
		entries = append(entries, item(keyCode, codeFacts(*c.Code, facts.Sights{})))
	}
	return object(entries...)
}

// named are words by names.
func named[T ~string](of map[string]T) *ast.Term {
	entries := make([][2]*ast.Term, 0, len(of))
	for name, word := range of {
		entries = append(entries, item(text(name), text(string(word))))
	}
	return object(entries...)
}

func calls(all []facts.Call) *ast.Term {
	if len(all) == 0 {
		return ast.InternedEmptyArray
	}
	terms := make([]*ast.Term, len(all))
	for i, c := range all {
		terms[i] = object(
			item(keyProgram, text(c.Program)), item(keyArgv, list(c.Argv)), item(keyFlags, list(c.Flags)),
			item(keyOperands, list(c.Operands)), item(keyWrappers, list(c.Wrappers)), item(keyReads, list(c.Reads)),
			item(keyWrites, list(c.Writes)), item(keyAssigns, list(c.Assigns)), item(keyPipesTo, text(c.PipesTo)),
		)
	}
	return ast.ArrayTerm(terms...)
}

func codeFacts(c facts.Code, sights facts.Sights) *ast.Term {
	entries := [][2]*ast.Term{
		item(keyLanguage, text(c.Language)), item(keyParsed, ast.InternedTerm(c.Parsed)), item(keyComplete, ast.InternedTerm(c.Complete)),
		item(keyImports, list(c.Imports)), item(keyCalls, list(c.Calls)), item(keyStrings, list(c.Strings)),
		item(keyVariables, list(c.Variables)), item(keyHosts, list(c.Hosts)), item(keyReads, list(c.Reads)),
		item(keyWrites, list(c.Writes)), item(keyTouches, list(c.Touches)), item(keyFeatures, list(c.Features)),
		item(keySettings, list(c.Settings)), item(keyLoses, list(c.Loses)),
	}
	if c.Command != nil {
		entries = append(entries, item(keyCommand, commandFacts(*c.Command, sights)))
	}
	return object(entries...)
}

// files names the files that the text runs or sources, with their digests where the sidecar
// has found them.
func files(c *facts.Command, found []bailiff.File) *ast.Term {
	if c == nil || len(c.Files) == 0 {
		return ast.InternedEmptyArray
	}
	terms := make([]*ast.Term, len(c.Files))
	for i, path := range c.Files {
		entries := [][2]*ast.Term{item(keyPath, text(path))}
		at := slices.IndexFunc(found, func(f bailiff.File) bool { return f.Path == path && f.SHA256 != "" })
		if at >= 0 {
			entries = append(entries, item(keySHA256, text(found[at].SHA256)))
		}
		terms[i] = object(entries...)
	}
	return ast.ArrayTerm(terms...)
}

// FilesOf reads from an input document what the text runs or sources.
func FilesOf(input ast.Object) []string {
	list, ok := input.Get(keyFiles).Value.(*ast.Array)
	if !ok || list.Len() == 0 {
		return nil
	}
	paths := make([]string, 0, list.Len())
	list.Foreach(func(file *ast.Term) { paths = append(paths, string(file.Get(keyPath).Value.(ast.String))) })
	return paths
}

// Paths are those that the text names, and whether these are all.
func (r Reading) Paths() (paths []string, all bool) {
	if r.ground == nil {
		return nil, true
	}
	if command := cmp.Or(r.Command, commandOf(r.Code)); command != nil {
		for _, p := range slices.Concat(command.Files, command.Opens) {
			r.ground.Name(p)
		}
	}
	return r.ground.Paths()
}

// Implied are the places where programs of the text find by themselves what they run.
func (r Reading) Implied() []bailiff.Implied { return r.ground.Implied() }

// Reaches says whether the text names hosts that its programs reach.
func (r Reading) Reaches() bool {
	command := cmp.Or(r.Command, commandOf(r.Code))
	return command != nil && len(command.Hosts) > 0 || r.Code != nil && len(r.Code.Hosts) > 0
}

// Changes are what the text names and would write or delete, and whether these are all.
func (r Reading) Changes(req bailiff.Request, home string) (paths []string, all bool) {
	if r.Command == nil || !r.Command.Parsed || !r.Command.Complete || r.Command.Code != nil || r.Command.Supposed != nil {
		return nil, false
	}
	for _, p := range r.Command.Writes {
		// The home of the sandbox is another one, so that only what lies in the working folder can be meant as a path of the host.
		if rest, isHome := strings.CutPrefix(p, "~/"); isHome && strings.HasPrefix(path.Join(home, rest)+"/", req.Args.Workdir+"/") {
			p = path.Join(home, rest)
		}
		if !path.IsAbs(p) {
			return nil, false
		}
		paths = append(paths, p)
	}
	return paths, true
}

// Loads are the files that the text runs, and those of modules and objects that it loads.
func (r Reading) Loads() (all []string) {
	if r.Code != nil {
		all = r.Code.Loads
	}
	command := cmp.Or(r.Command, commandOf(r.Code))
	switch {
	case command == nil:
		return all
	case command.Supposed != nil:
		return slices.Concat(all, command.Files, command.Modules, command.Supposed.Modules)
	}
	return slices.Concat(all, command.Files, command.Modules)
}

// Origins are of the files that the text fills from elsewhere.
func (r Reading) Origins() (all []bailiff.Origin) {
	if r.Code != nil {
		all = r.Code.Origins
	}
	if command := cmp.Or(r.Command, commandOf(r.Code)); command != nil {
		all = slices.Concat(all, command.Origins)
	}
	return all
}

// Hosts are those that the text names.
func (r Reading) Hosts() (all []string) {
	if r.Code != nil {
		all = r.Code.Hosts
	}
	if command := cmp.Or(r.Command, commandOf(r.Code)); command != nil {
		all = slices.Concat(all, command.Hosts)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Discards says whether the text calls git.
func (r Reading) Discards() bool {
	return r.Command != nil && slices.Contains(r.Command.Programs, "git")
}

// commandOf is the shell text that a program runs; nil if there is none.
func commandOf(code *facts.Code) *facts.Command {
	if code == nil {
		return nil
	}
	return code.Command
}

// Opens are the files by which the text may come to mean something else, besides those that
// it runs.
func (r Reading) Opens() []string {
	command := r.Command
	var all []string
	if r.Code != nil {
		if command = r.Code.Command; !r.Code.Complete {
			all = slices.Clone(r.Code.Reads)
		}
	}
	if command != nil {
		all = append(all, command.Opens...)
		if s := command.Supposed; s != nil {
			all = append(append(all, s.Files...), s.Opens...)
		}
		all = slices.DeleteFunc(all, func(p string) bool { return slices.Contains(command.Files, p) })
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Unknown are the programs of the text that no table knows, by their names or the paths of their files.
func (r Reading) Unknown() []string {
	return append(r.sights.Unknown[:len(r.sights.Unknown):len(r.sights.Unknown)], r.sights.Unsought...)
}
