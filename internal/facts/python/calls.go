package python

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// behaviourKind is what a call does.
type behaviourKind uint8

const (
	doesNothing     behaviourKind = iota
	doesShellText                 // arg 0 is shell text
	doesRun                       // arg 0 is a command as a list, or as text with shell=True
	doesRunEither                 // arg 0 is a command as a list, or shell text
	doesRunRest                   // all arguments from skip on are a command
	doesRunPath                   // arg skip is a program, the next its arguments as a list
	doesRunPathRest               // arg skip is a program, the others its arguments from the name on
	doesRunFile                   // arg 0 is a file with a Python program
	doesRunNamed                  // all arguments are those of the program called name
	doesExecCode                  // arg 0 is Python
	doesCompileCode               // arg 0 is Python, not yet run
	doesHidesCode                 // runs what the text does not tell
	doesImportNamed               // arg 0 names a module
	doesHidesImport
	doesGetAttribute
	doesNamespace // globals(), locals(), vars()
	doesOpenFile
	doesReads       // args are paths
	doesWrites      // args are paths
	doesReadsWrites // args are paths
	doesLooks       // reads of a file no more than what a listing shows
	doesListing     // gives the names in a folder
	doesEntries     // gives their paths
	doesMatching    // gives the paths that match a pattern
	doesSendsFile   // a file goes to another host
	doesDatabase    // arg 0 is the URL of a database
	doesTree        // gives folders with the names in them
	doesUnpacks     // fills a folder
	doesCopies      // arg 0 is read, arg 1 written
	doesMoves       // both are written
	doesGetenv      // arg 0 names a variable
	doesEnviron     // the environment itself
	doesEnvironAll
	doesEnvironSet
	doesMakePath
	doesJoin
	doesExpandUser
	doesSamePath
	doesWorkdir
	doesHome
	doesChdir
	doesDecode // text from an encoding
	doesCharacter
	doesMakeText
	doesMakeList
	doesMap
	doesReversed
	doesJoinWords
	doesQuote
	doesSplitWords
	doesPureText // the argument as text
	doesModule   // gives a module
	doesResolve  // arg 0 is the dotted name of what it gives
	doesMakeDict
	doesSetAttribute
	doesFindModules // arg skip is where modules are looked for from now on
)

// behaviour is what calls of one name do; skip is where its command starts.
type behaviour struct {
	kind behaviourKind
	skip int
	// name is the keyword of the first argument, or the encoding that is undone.
	name string
	// when is a keyword that must be given for it; usual is the path where none is given.
	when, usual string
	// also is what the call does besides.
	also *behaviour
}

// kinds are the names of the kinds in calls.yaml.
var kinds = map[string]behaviourKind{
	"nothing":       doesNothing,
	"shell_text":    doesShellText,
	"run":           doesRun,
	"run_either":    doesRunEither,
	"run_rest":      doesRunRest,
	"run_path":      doesRunPath,
	"run_path_rest": doesRunPathRest,
	"run_file":      doesRunFile,
	"exec_code":     doesExecCode,
	"compile_code":  doesCompileCode,
	"hides_code":    doesHidesCode,
	"import_named":  doesImportNamed,
	"hides_import":  doesHidesImport,
	"get_attribute": doesGetAttribute,
	"namespace":     doesNamespace,
	"open_file":     doesOpenFile,
	"reads":         doesReads,
	"writes":        doesWrites,
	"reads_writes":  doesReadsWrites,
	"looks":         doesLooks,
	"listing":       doesListing,
	"entries":       doesEntries,
	"entries_of":    doesMatching,
	"sends_file":    doesSendsFile,
	"database":      doesDatabase,
	"tree":          doesTree,
	"unpacks":       doesUnpacks,
	"copies":        doesCopies,
	"moves":         doesMoves,
	"getenv":        doesGetenv,
	"environ":       doesEnviron,
	"environ_all":   doesEnvironAll,
	"environ_set":   doesEnvironSet,
	"make_path":     doesMakePath,
	"join":          doesJoin,
	"expand_user":   doesExpandUser,
	"same_path":     doesSamePath,
	"workdir":       doesWorkdir,
	"home":          doesHome,
	"chdir":         doesChdir,
	"decode":        doesDecode,
	"character":     doesCharacter,
	"make_text":     doesMakeText,
	"make_list":     doesMakeList,
	"map":           doesMap,
	"reversed":      doesReversed,
	"join_words":    doesJoinWords,
	"quote":         doesQuote,
	"split_words":   doesSplitWords,
	"pure_text":     doesPureText,
	"module":        doesModule,
	"resolve":       doesResolve,
	"make_dict":     doesMakeDict,
	"set_attribute": doesSetAttribute,
	"find_modules":  doesFindModules,
}

//go:embed calls.yaml
var callsText string

// behaviours are what is known of calls, by their full names.
var behaviours = sync.OnceValue(func() map[string]behaviour {
	all, err := readCalls(callsText)
	if err != nil {
		panic(err)
	}
	return all
})

func readCalls(text string) (map[string]behaviour, error) {
	all := map[string]behaviour{}
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

func readBehaviours(does string) (b behaviour, ok bool) {
	first, more, several := strings.Cut(does, ", ")
	b, ok = readBehaviour(strings.Fields(first))
	if several && ok {
		var also behaviour
		also, ok = readBehaviours(more)
		b.also = &also
	}
	return b, ok
}

func readBehaviour(words []string) (b behaviour, ok bool) {
	if len(words) == 0 {
		return b, false
	}
	b.kind, ok = kinds[words[0]]
	for _, w := range words[1:] {
		option, skip, given := strings.Cut(w, "=")
		switch {
		case !given:
			ok, b.name = ok && b.name == "", w
			continue
		case option == "when":
			b.when = skip
			continue
		case option == "usual":
			b.usual = skip
			continue
		}
		ok = ok && option == "skip"
		var err error
		b.skip, err = strconv.Atoi(skip)
		ok = ok && err == nil
	}
	return b, ok
}

// dangerousModules are those that can run anything by a name that is computed.
var dangerousModules = value.SetOf("os posix subprocess builtins __builtins__ importlib ctypes pty commands sys.modules " +
	"asyncio.subprocess shutil sh plumbum.local plumbum.cmd " +
	"runpy code globals() locals() __main__")

// dangerous says whether a program that has what a name stands for can run anything.
func dangerous(name string) bool {
	name = strings.TrimSuffix(name, ".__dict__")
	d := behaviours()[name]
	return d.kind >= doesShellText && d.kind <= doesNamespace || dangerousModules[name] || strings.HasPrefix(name, "ctypes.")
}

// effective says whether calls of a name do something that counts.
func effective(name string) bool {
	_, known := behaviours()[name]
	return known
}

// revealing are the attributes by which a program reaches what it did not import.
var revealing = value.SetOf("__subclasses__ __globals__ __builtins__ __code__ __getattribute__ __mro__ __bases__ f_globals f_locals " +
	"f_builtins gi_frame tb_frame cr_frame __loader__ __reduce__ load_module exec_module func_globals __self__")

// behaviourOfModule is what calls do that only their module tells of.
func behaviourOfModule(name string) behaviour {
	if strings.HasPrefix(name, "ctypes.") || strings.HasPrefix(name, "cffi.") || private(name) {
		return behaviour{kind: doesHidesCode}
	}
	if program, ok := strings.CutPrefix(name, "sh."); ok && program != "" && !strings.Contains(program, ".") {
		return behaviour{kind: doesRunNamed, name: program}
	}
	for _, module := range []string{"plumbum.local.", "plumbum.cmd."} {
		if program, ok := strings.CutPrefix(name, module); ok && !strings.Contains(program, ".") {
			return behaviour{kind: doesRunNamed, name: program}
		}
	}
	return behaviour{}
}
