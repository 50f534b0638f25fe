// Package library is what is known of Python's own names and of those of libraries: what a call of each does, which names mean the same,
// and which functions only look at what they are given.
//
// What is not here: values, and how a program uses a name (packages object and python).
package library

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// Kind is what a call does.
type Kind uint8

const (
	DoesNothing     Kind = iota
	DoesShellText        // arg 0 is shell text
	DoesRun              // arg 0 is a command as a list, or as text with shell=True
	DoesRunEither        // arg 0 is a command as a list, or shell text
	DoesRunRest          // all arguments from skip on are a command
	DoesRunPath          // arg skip is a program, the next its arguments as a list
	DoesRunPathRest      // arg skip is a program, the others its arguments from the name on
	DoesRunFile          // arg 0 is a file with a Python program
	DoesRunNamed         // all arguments are those of the program, or of the verb of a program, called name
	DoesExecCode         // arg 0 is Python
	DoesCompileCode      // arg 0 is Python, not yet run
	DoesHidesCode        // runs what the text does not tell
	DoesImportNamed      // arg 0 names a module
	DoesHidesImport
	DoesGetAttribute
	DoesNamespace // globals(), locals(), vars()
	DoesOpenFile
	DoesReads       // args are paths
	DoesWrites      // args are paths
	DoesReadsWrites // args are paths
	DoesLooks       // reads of a file no more than what a listing shows
	DoesListing     // gives the names in a folder
	DoesEntries     // gives their paths
	DoesMatching    // gives the paths that match a pattern
	DoesSendsFile   // a file goes to another host
	DoesDatabase    // arg 0 is the URL of a database
	DoesTree        // gives folders with the names in them
	DoesUnpacks     // fills a folder
	DoesCopies      // arg 0 is read, arg 1 written
	DoesMoves       // both are written
	DoesGetenv      // arg 0 names a variable
	DoesEnviron     // the environment itself
	DoesEnvironAll
	DoesEnvironSet
	DoesMakePath
	DoesJoin
	DoesExpandUser
	DoesSamePath
	DoesWorkdir
	DoesHome
	DoesChdir
	DoesDecode // text from an encoding
	DoesCharacter
	DoesMakeText
	DoesMakeList
	DoesMap
	DoesReversed
	DoesJoinWords
	DoesQuote
	DoesSplitWords
	DoesPureText // the argument as text
	DoesModule   // gives a module
	DoesResolve  // arg 0 is the dotted name of what it gives
	DoesMakeDict
	DoesSetAttribute
	DoesFindModules // arg skip is where modules are looked for from now on
	DoesEvaluate    // arg skip is an expression in a dialect of Python
	DoesTemplate    // arg skip is a template with such expressions
	DoesAnnotations // evaluates the annotations of the program
	DoesDoctests    // runs the examples in docstrings
	DoesConfigure   // arg 0 names what is called
	DoesGetLater    // args are names of attributes
	DoesLoadObjects // arg skip is bytes, or a file of them, that run what they name
	DoesLoadYAML    // arg 0 is a text that may name what runs
	DoesNext        // gives an item of arg 0
	DoesTellMachine // gives what describes the machine or its user
	DoesCallNamed   // arg 0 is the dotted name of what it calls, or a list of such
)

// Behaviour is what calls of one name do; Skip is where its command starts.
type Behaviour struct {
	Kind Kind
	Skip int
	// Name is the keyword of the first argument, or the encoding that is undone.
	Name string
	// When is a keyword that must be true for it, Unless one that must be given as false; Usual is the path where none is given.
	When, Unless, Usual string
	// Operand is the keyword of what a program is given that no option is.
	Operand string
	// Also is what the call does besides.
	Also *Behaviour
}

// kinds are the names of the kinds in calls.yaml.
var kinds = map[string]Kind{
	"nothing":       DoesNothing,
	"tells_machine": DoesTellMachine,
	"shell_text":    DoesShellText,
	"run":           DoesRun,
	"run_either":    DoesRunEither,
	"run_rest":      DoesRunRest,
	"run_path":      DoesRunPath,
	"run_path_rest": DoesRunPathRest,
	"run_file":      DoesRunFile,
	"run_named":     DoesRunNamed,
	"exec_code":     DoesExecCode,
	"compile_code":  DoesCompileCode,
	"hides_code":    DoesHidesCode,
	"import_named":  DoesImportNamed,
	"hides_import":  DoesHidesImport,
	"get_attribute": DoesGetAttribute,
	"namespace":     DoesNamespace,
	"open_file":     DoesOpenFile,
	"reads":         DoesReads,
	"writes":        DoesWrites,
	"reads_writes":  DoesReadsWrites,
	"looks":         DoesLooks,
	"listing":       DoesListing,
	"entries":       DoesEntries,
	"entries_of":    DoesMatching,
	"sends_file":    DoesSendsFile,
	"database":      DoesDatabase,
	"tree":          DoesTree,
	"unpacks":       DoesUnpacks,
	"copies":        DoesCopies,
	"moves":         DoesMoves,
	"getenv":        DoesGetenv,
	"environ":       DoesEnviron,
	"environ_all":   DoesEnvironAll,
	"environ_set":   DoesEnvironSet,
	"make_path":     DoesMakePath,
	"join":          DoesJoin,
	"expand_user":   DoesExpandUser,
	"same_path":     DoesSamePath,
	"workdir":       DoesWorkdir,
	"home":          DoesHome,
	"chdir":         DoesChdir,
	"decode":        DoesDecode,
	"character":     DoesCharacter,
	"make_text":     DoesMakeText,
	"make_list":     DoesMakeList,
	"map":           DoesMap,
	"reversed":      DoesReversed,
	"join_words":    DoesJoinWords,
	"quote":         DoesQuote,
	"split_words":   DoesSplitWords,
	"pure_text":     DoesPureText,
	"module":        DoesModule,
	"resolve":       DoesResolve,
	"make_dict":     DoesMakeDict,
	"set_attribute": DoesSetAttribute,
	"find_modules":  DoesFindModules,
	"evaluate":      DoesEvaluate,
	"template":      DoesTemplate,
	"annotations":   DoesAnnotations,
	"doctests":      DoesDoctests,
	"configure":     DoesConfigure,
	"get_later":     DoesGetLater,
	"load_objects":  DoesLoadObjects,
	"load_yaml":     DoesLoadYAML,
	"next":          DoesNext,
	"call_named":    DoesCallNamed,
}

//go:embed calls.yaml
var callsText string

// Behaviours are what is known of calls, by their full names.
var Behaviours = sync.OnceValue(func() map[string]Behaviour {
	all, err := readCalls(callsText)
	if err != nil {
		panic(err)
	}
	return all
})

func readCalls(text string) (map[string]Behaviour, error) {
	all := map[string]Behaviour{}
	for i, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, does, _ := strings.Cut(line, ": ")
		b, ok := readBehaviours(does)
		if _, twice := all[name]; twice || !ok {
			return nil, fmt.Errorf("reading calls.yaml: line %d names no known kind, or a call twice: %s", i+1, line)
		}
		all[name] = b
	}
	return all, nil
}

func readBehaviours(does string) (b Behaviour, ok bool) {
	first, more, several := strings.Cut(does, ", ")
	b, ok = readBehaviour(strings.Fields(first))
	if several && ok {
		var also Behaviour
		also, ok = readBehaviours(more)
		b.Also = &also
	}
	return b, ok
}

func readBehaviour(words []string) (b Behaviour, ok bool) {
	if len(words) == 0 {
		return b, false
	}
	b.Kind, ok = kinds[words[0]]
	for _, w := range words[1:] {
		option, skip, given := strings.Cut(w, "=")
		switch {
		case !given:
			ok, b.Name = ok && b.Name == "", w
			continue
		case option == "when":
			b.When = skip
			continue
		case option == "unless":
			b.Unless = skip
			continue
		case option == "operand":
			b.Operand = skip
			continue
		case option == "usual":
			b.Usual = skip
			continue
		}
		ok = ok && option == "skip"
		var err error
		b.Skip, err = strconv.Atoi(skip)
		ok = ok && err == nil
	}
	return b, ok
}

// Verb is what a method does of an object of a library that stands for a program: the method, or what holds it, is in the table of
// calls as "library..method" and "library..holder.*".
func Verb(library, holder, method string) Behaviour {
	if !haveVerbs()[library] {
		return Behaviour{}
	}
	d, ok := Behaviours()[library+".."+method]
	if !ok {
		d = Behaviours()[library+".."+holder+".*"]
	}
	d.Name += " " + strings.ReplaceAll(method, "_", "-")
	return d
}

// haveVerbs are the libraries whose objects have such methods.
var haveVerbs = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for name := range Behaviours() {
		if library, _, ok := strings.Cut(name, ".."); ok {
			all[library] = true
		}
	}
	return all
})

// DangerousModules are those that can run anything by a name that is computed.
var DangerousModules = value.SetOf("os posix subprocess builtins __builtins__ importlib ctypes pty commands sys.modules " +
	"asyncio.subprocess shutil sh plumbum.local plumbum.cmd " +
	"runpy code globals() locals() __main__")

// Dangerous says whether a program that has what a name stands for can run anything.
func Dangerous(name string) bool {
	name = strings.TrimSuffix(name, ".__dict__")
	d := Behaviours()[name]
	return d.Kind >= DoesShellText && d.Kind <= DoesNamespace || DangerousModules[name] || strings.HasPrefix(name, "ctypes.")
}

// Effective says whether calls of a name do something that counts.
func Effective(name string) bool {
	_, known := Behaviours()[name]
	return known
}

// Revealing are the attributes by which a program reaches what it did not import.
var Revealing = value.SetOf("__subclasses__ __globals__ __builtins__ __code__ __getattribute__ __mro__ __bases__ f_globals f_locals " +
	"f_builtins gi_frame tb_frame cr_frame __loader__ __reduce__ load_module exec_module func_globals __self__ __base__")

// BehaviourOfModule is what calls do that only their module tells of.
func BehaviourOfModule(name string) Behaviour {
	if strings.HasPrefix(name, "ctypes.") || strings.HasPrefix(name, "cffi.") || private(name) {
		return Behaviour{Kind: DoesHidesCode}
	}
	if program, ok := strings.CutPrefix(name, "sh."); ok && program != "" {
		return Behaviour{Kind: DoesRunNamed, Name: strings.ReplaceAll(program, ".", " ")}
	}
	for _, module := range []string{"plumbum.local.", "plumbum.cmd."} {
		if program, ok := strings.CutPrefix(name, module); ok && !strings.Contains(program, ".") {
			return Behaviour{Kind: DoesRunNamed, Name: program}
		}
	}
	return Behaviour{}
}
