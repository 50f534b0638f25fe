package facts

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/facts/oneliner"
	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/programs/index"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/languages"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/loads"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// Sights are the programs that a text calls and that no entry describes.
type Sights struct {
	// Unknown are those that nothing knows, also not the host where the text runs: names, and paths spelt as those of files that a text
	// runs, sorted. Unsought are those that no table knows, while no look at the host was had.
	Unknown, Unsought []string
	// Held are those of the unknown that are known by their content to a person who looked at it once, with its digest: they take no
	// commands and no code as words, and the index has no kind for their names that may do harm. It is nil where no look was had.
	Held map[string]string
	// Kinds are those of the others that the index has, by their names.
	Kinds map[string]index.Kind
}

// SightsOf looks the programs of a text up in the index and in what was found where it runs. A file that the text itself makes is judged
// by how it is made, one whose text is among the contents by its text.
func SightsOf(c Command, at Place, found bailiff.Ground) Sights {
	s := seer{c: c, at: at, found: found, sights: Sights{Kinds: map[string]index.Kind{}}}
	for _, call := range c.Calls {
		if len(call.Argv) > 0 && call.Program != "" && !isGuessed(call) {
			s.seeCall(call)
		}
	}
	all := s.sights
	maps.DeleteFunc(all.Held, func(_, digest string) bool { return digest == "" })
	all.Unknown, all.Unsought = value.Sorted(all.Unknown), value.Sorted(all.Unsought)
	return all
}

// seer looks at the programs of a text.
type seer struct {
	c      Command
	at     Place
	found  bailiff.Ground
	sights Sights
}

// seeCall sorts in the programs of a call. The name of one that an entry describes tells which that is where only root installs
// programs; elsewhere another may have it.
func (s *seer) seeCall(call Call) {
	word, kind, isFile := call.Argv[0], index.Of(call.Program), strings.Contains(call.Argv[0], "/")
	isDescribed := isDescribed(call.Program)
	if isDescribed {
		s.seeScripts(call)
	}
	switch {
	case isDescribed && (!isFile || isOfSystem(word) || s.isOfEnvironment(word)):
		s.seeInPath(call)
	case isOfSystem(word), !isFile && kind != "":
		if kind != "" {
			s.sights.Kinds[call.Program] = kind
		}
		s.seeInPath(call)
	case isFile:
		s.seeFile(call)
	case !s.seeInPath(call) && isName(word):
		s.see(call, word)
	}
}

// isOfEnvironment says that a path begins with a variable that neither the text nor its shell sets: the owner of the host did.
func (s *seer) isOfEnvironment(word string) bool {
	name := variable.FindStringSubmatch(word)
	return name != nil && !slices.Contains(s.c.Assigns, name[1]) && !state.IsOfShell(name[1])
}

var variable = regexp.MustCompile(`^\$(\w+)/`)

// see sorts in a program that no table knows, by its name or by the path of its file.
func (s *seer) see(call Call, place string) {
	switch {
	case slices.Contains(s.found.Known, place):
	case s.found.Sought:
		s.sights.Unknown = append(s.sights.Unknown, place)
		s.hold(call, place)
	default:
		s.sights.Unsought = append(s.sights.Unsought, place)
	}
}

// hold notes the content of an unknown program, unless what it does is told by more than that.
func (s *seer) hold(call Call, place string) {
	if s.sights.Held == nil {
		s.sights.Held = map[string]string{}
	}
	if doesHarm(index.Of(call.Program)) || s.takesCode(call) || s.takesInput(call) {
		s.sights.Held[place] = ""
	}
	_, isSeen := s.sights.Held[place]
	for _, file := range s.found.Unknown {
		if file.Path == place && !isSeen {
			s.sights.Held[place] = file.SHA256
		}
	}
}

// doesHarm says that programs of a kind may do harm with any content.
func doesHarm(kind index.Kind) bool { return kind == index.Administers || kind == index.ScansOrAttacks }

// takesCode says that words of a call may be commands or code for its program.
func (s *seer) takesCode(call Call) bool {
	return s.c.Supposed != nil || slices.ContainsFunc(call.Argv[1:], func(word string) bool { return code.MatchString(word) })
}

// takesInput says that a call may read commands or code from what the text hands to it.
func (s *seer) takesInput(call Call) bool {
	return slices.Contains(s.c.Features, FeatureHeredoc) || slices.Contains(s.c.Features, value.FeatureRedirect) && len(call.Reads) > 0 ||
		slices.ContainsFunc(s.c.Calls, func(from Call) bool { return from.PipesTo == call.Program })
}

// code is what a word has that may be code, or an option before a word that is.
var code = regexp.MustCompile("[\\s*;|&<>(){}$`'\"\\\\]|^-[ceE]$|" +
	"^--?(?:c|code|command|eval|exec|execute|expression|program|run|script)(?:=|$)")

// seeFile sorts in a program that the text names by a path.
func (s *seer) seeFile(call Call) {
	word := call.Argv[0]
	if isOfProject(word) || s.at.Contents == nil && mayMake(word, s.c) {
		return
	}
	var places []string
	for _, p := range s.c.Files {
		if isFile(word, p) {
			places = append(places, p)
		}
	}
	if len(places) == 0 {
		places = []string{word}
	}
	for _, place := range places {
		s.seePlace(call, place)
	}
}

// seePlace sorts in a file that a call runs. Of one that the text makes, what it is made of counts.
func (s *seer) seePlace(call Call, place string) {
	from := []string{place}
	if s.isMade(place) {
		from = s.c.Sources
	}
	for _, p := range from {
		switch {
		case isOfSystem(p), p != place && (s.at.Contents == nil || slices.Contains(s.c.Made, p)):
		case isRead(p, s.at):
			s.seeInterpreter(call, p)
		default:
			s.see(call, p)
		}
	}
}

// seeInterpreter sorts in what the first line of a script has run it: a name tells which program that is only where root installs programs.
func (s *seer) seeInterpreter(call Call, script string) {
	for _, word := range languages.ShebangWords((*s.at.Contents)[script].Text) {
		switch {
		case strings.Contains(word, "="): // what env is to set may be where names are looked up
			s.see(call, script)
		case strings.Contains(word, "/") && !isOfSystem(word) && !isOfProject(word):
			s.see(call, word)
		}
	}
}

// isMade says that a text fills a file: by what it writes, or by a compiler that it names the file to.
func (s *seer) isMade(place string) bool {
	return slices.Contains(s.c.Made, place) || slices.ContainsFunc(s.c.Calls, func(call Call) bool {
		return isCompiler(call.Program) && slices.Contains(call.Writes, s.at.Path(place, ""))
	})
}

// isThere says that a file was found where the text runs.
func (s *seer) isThere(p string) bool {
	if s.at.Contents == nil {
		return false
	}
	content, ok := (*s.at.Contents)[p]
	return ok && !content.Folder
}

// seeInPath sorts in the files under a program's name, or that of its verb, in the folders of a PATH that the text sets; it is true where
// such a file is.
func (s *seer) seeInPath(call Call) (isThere bool) {
	names := []string{call.Argv[0]}
	if len(call.Operands) > 0 {
		names = append(names, call.Argv[0]+"-"+call.Operands[0])
	}
	for _, p := range s.c.Opens {
		if !slices.Contains(names, path.Base(p)) || isOfSystem(p) || isOfProject(p) || mayMake(p, s.c) {
			continue
		}
		isThere = isThere || s.isThere(p)
		if !isRead(p, s.at) {
			s.see(call, p)
		}
	}
	return isThere
}

// seeScripts sorts in the scripts that a call has its program interpret, where these were looked at and not read.
func (s *seer) seeScripts(call Call) {
	language := programs.Interpreter(call.Program)
	if s.at.Contents == nil || language == "" {
		s.seeTasks(call)
		return
	}
	for _, p := range s.c.Files {
		isIt := slices.ContainsFunc(valuesOf(call), func(word string) bool { return isFile(word, p) }) || s.isInput(call, p)
		from := []string{p}
		if slices.Contains(s.c.Made, p) {
			from = s.c.Sources
		}
		for _, p := range from {
			content := (*s.at.Contents)[p]
			if isIt && s.isThere(p) && !isOfSystem(p) && !isOfProject(p) && !(content.Known && isUnderstood(language, content.Text)) {
				s.see(call, p)
			}
		}
	}
}

// seeTasks sorts in the files that a call gives a runner of tasks in place of those that it finds. Those made lately are read.
func (s *seer) seeTasks(call Call) {
	own := programs.Of(call.Program)
	if s.at.Contents == nil || len(own.Finds) == 0 {
		return
	}
	for i, word := range call.Argv {
		option, value, isAttached := strings.Cut(word, "=")
		if !isAttached && i+1 < len(call.Argv) {
			value = call.Argv[i+1]
		}
		for _, p := range s.c.Files {
			if value != "" && loads.NamesOwnFile(own, option) && isFile(value, p) && s.isThere(p) && !(*s.at.Contents)[p].Recent {
				s.see(call, p)
			}
		}
	}
}

// valuesOf are the words of a call, of an option with its value the value alone.
func valuesOf(call Call) []string {
	values := slices.Clone(call.Argv[1:])
	for i, word := range values {
		if _, value, isGiven := strings.Cut(word, "="); isGiven && strings.HasPrefix(word, "-") {
			values[i] = value
		}
	}
	return values
}

// isInput says that a call without operands may get a file as what its program interprets.
func (s *seer) isInput(call Call, file string) bool {
	return len(call.Operands) == 0 && slices.Contains(s.c.Reads, s.at.Path(file, ""))
}

// isDescribed says that an entry says what the program does, or how it reads its arguments. A version may stand behind the name.
func isDescribed(name string) bool {
	return programs.Known(name) || programs.Known(strings.TrimRight(name, "0123456789.-"))
}

// isGuessed says that a call stands in a text that another program may read as its commands, or not: a title, a part of sed's.
func isGuessed(call Call) bool {
	return slices.ContainsFunc(call.Wrappers, func(name string) bool {
		p := programs.Of(name)
		return p.Wraps == programs.ShellTexts || p.Grammar == "sed"
	})
}

// isName says that a text tells the word whole, and that a program may be called so: what holds a blank or a colon is prose.
func isName(word string) bool { return name.MatchString(word) }

var name = regexp.MustCompile(`^[\w./~][\w.+@,/~-]*$`)

// isOfSystem says that a path leads to a folder in which programs are installed for everybody.
func isOfSystem(word string) bool {
	return slices.ContainsFunc([]string{"/bin/", "/sbin/", "/usr/", "/opt/", "/nix/store/", "/snap/bin/"}, func(folder string) bool {
		return strings.HasPrefix(path.Clean(word), folder)
	})
}

// isOfProject says that a path leads to a folder into which a package manager installs programs for a project.
func isOfProject(word string) bool { return ofProject.MatchString(path.Clean(word)) }

var ofProject = regexp.MustCompile(`(^|/)(node_modules/\.bin|\.venv/bin|venv/bin)/[^/]+$`)

// isFile says that a path may be that of a word, seen from another folder.
func isFile(word, p string) bool {
	below := path.Clean(word)
	for strings.HasPrefix(below, "../") {
		below = below[len("../"):]
	}
	p = path.Clean(strings.TrimPrefix(p, `\`)) // of a folder that is called "~"
	return p == path.Clean(word) || strings.HasSuffix(p, "/"+below)
}

// mayMake says that a text may make the file that it runs, as far as the text alone tells.
func mayMake(word string, c Command) bool {
	return slices.ContainsFunc(c.Writes, func(p string) bool { return isFile(word, p) }) ||
		!path.IsAbs(word) && !strings.HasPrefix(word, "~") && compiles(c)
}

// isRead says that the text of a file is judged as a part of the request: a shell's, or that of a language which is read to its end.
func isRead(p string, at Place) bool {
	if at.Contents == nil {
		return false
	}
	content := (*at.Contents)[p]
	return content.Known && !strings.Contains(content.Text, "\x00") && isReadable(languages.ShebangLanguage(content.Text))
}

// isReadable says that programs in a language are read to their end; a file that names none is the shell's.
func isReadable(language string) bool {
	return language == "" || language == "shell" || language == "python"
}

// isUnderstood says that a script of a language is read to its end, or does nothing that is not on a list.
func isUnderstood(language, text string) bool {
	if strings.Contains(text, "\x00") {
		return false
	}
	if isReadable(language) {
		return true
	}
	_, isPlain := oneliner.Read(language, text)
	return isPlain
}

// compiles says that a text compiles something, so that a program below its folder may be what comes of it.
func compiles(c Command) bool {
	return slices.ContainsFunc(c.Programs, isCompiler)
}

func isCompiler(name string) bool {
	return builders[name] || programs.Description(programs.BaseName(name)).Fills == programs.Compiled
}

// builders are programs that compile what the files of a project name, which are judged as such.
var builders = map[string]bool{"make": true, "gmake": true, "ninja": true, "cmake": true, "meson": true, "bazel": true, "go": true,
	"cargo": true, "rustc": true, "zig": true, "swift": true, "dune": true, "ghc": true, "stack": true, "cabal": true, "dotnet": true}
