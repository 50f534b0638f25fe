// Package programs holds the grammar of programs: which options take values, what the
// operands are, and what a program starts, runs, reads, writes and loses.
//
// What is promised: the grammar of a program is the key "grammar" of its entry below policies/bailiff/programs, as this
// program holds it: policies of a team add no reading and take none away. An entry is read once, when its name is
// first asked for. An unknown key or kind in a grammar is a fault of this
// program, which its tests find.
//
// Not here: what a program means to the policies (the other keys of its entry say that), and grammars
// that no entry can hold, such as those of tar and find (package shell has them).
package programs

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// Operands is what a program does with its operands.
type Operands string

// The kinds of operands; docs/programs.md explains them.
const (
	Unnamed Operands = ""
	None    Operands = "none"
	Reads   Operands = "reads"
	Writes  Operands = "writes"
	Copies  Operands = "copies"
	Moves   Operands = "moves"
	Script  Operands = "script"
	Mode    Operands = "mode"
	URLs    Operands = "urls"
	Host    Operands = "host"
	Hosts   Operands = "hosts"
	Remote  Operands = "remote"
	Archive Operands = "archive"
	Text    Operands = "text"
	First   Operands = "first"
)

// Value is what the value of an option names.
type Value string

// The kinds of values.
const (
	Plain       Value = ""
	FileWritten Value = "writes"
	FileRead    Value = "reads"
	FileOfNames Value = "names"
	Data        Value = "data"
	URL         Value = "url"
	HostName    Value = "host"
)

// Program is what is known of one program. Its zero value is known of every other.
type Program struct {
	Like string
	// Grammar names one that package shell has, since no entry can hold it.
	Grammar  string `yaml:"parser"`
	Language string

	Operands           Operands
	Options            Options
	Flags              Words
	Long, Strict, Plus bool

	Wraps       Wraps
	Subcommands Subcommands
	Behind      Words
	Shells      Words
	Assigns     bool
	// Environment are options whose value sets a variable of the program that is started.
	Environment Words
	Chdir       Words
	Skips       Skips
	Edits       Words
	ShellAlone  bool `yaml:"shell_alone"`

	Input   Input
	When    Words
	Texts   Words
	Escapes Escapes

	// Debugs matches such a program by which it runs what the first operand names, with the others as arguments.
	Debugs Lines

	// Reading and Writing find the files that such a program reads and writes, Running those with more of it.
	Reading, Writing, Running []Escapes

	// Beside is a folder of the project in which the program looks first for those that it starts. Plugins says that it
	// starts a program of its own name and its first operand, such as git-NAME.
	Beside  string
	Plugins bool

	Runs Words
	// ProgramIn are options that name the file with the program, in place of the first operand.
	ProgramIn Words `yaml:"program_in"`
	// Calls are those of its texts that may be the name of a function of that file alone.
	Calls   Words
	Project string
	// Alone is the subcommand that it runs where none is named.
	Alone string
	// RunsScripts says that the operands are scripts of the project.
	RunsScripts bool `yaml:"runs_scripts"`
	// Tests is the language of the files of tests that the operands name. With TestsFor it runs tests only where one of
	// these is an option or the first operand. Picks says that operands may be parts of the names of tests, Bare
	// that what it gives a test starts nothing.
	Tests    string
	TestsFor Words `yaml:"tests_for"`
	Picks    bool
	Bare     bool
	// Gathers are the patterns of the names of files that the program finds and runs by itself; the last is of those
	// that it runs beside a file that is named.
	Gathers Words
	// Finds are the names of the files in the current folder that the program runs by itself, or patterns of them, for the
	// first operands FindsFor, or for all. Holds is the language of those whose ending does not tell it.
	Finds    Words
	FindsFor Words `yaml:"finds_for"`
	Holds    string
	// Plain finds that a file of Finds only names values, by each of its lines. Without are endings of names that are none.
	Plain   Lines
	Without Words
	// Folders are options that name folders with files of Finds, as operands behind the first do. A file that an option names
	// lists more of them.
	Folders Words
	// Verbs are first operands which have an entry of their own, with what the program finds for them. Sources are the
	// endings of the names of operands that it compiles and runs at once.
	Verbs, Sources Words
	// Versioned says that its name may end in a version, such as gcc-12.
	Versioned bool
	// ReadsOnly are options with which the operands are only read.
	ReadsOnly Words `yaml:"reads_only"`
	Output    Output
	Saves     bool
	Fills     Fills
	Links     Words
	Loses     Loses
	Unlinks   Loses

	// Setup are the first operands with which the program prints settings for the shell that started it, or "*"
	// if it does nothing else. Such text is as harmless as the program.
	Setup Words

	// Unpacks are words with which files of an archive go below the current folder.
	Unpacks Words

	Unsettles, Inert bool
}

// Input is what a program takes its standard input for.
type Input string

// The kinds of input; docs/programs.md explains them.
const (
	Commands    Input = "commands"
	ItsProgram  Input = "program"
	NamesToRead Input = "names"
	Patch       Input = "patch"
)

// Wraps says where the program stands that another one starts.
type Wraps string

// The places of a program that is started.
const (
	Command      Wraps = "command"
	AfterOperand Wraps = "after_operand"
	Rest         Wraps = "rest"
	AllWords     Wraps = "words"
	Launched     Wraps = "launched"
	ShellTexts   Wraps = "texts"
)

// Skips says which operand before the command is none of it.
type Skips string

// The operands before a command.
const (
	Operand Skips = "operand"
	Name    Skips = "name"
)

// Output is where what a program writes comes from.
type Output string

// The kinds of output.
const (
	FromNetwork Output = "network"
	Decoded     Output = "decoded"
	Report      Output = "report"
	Silent      Output = "none"
	Listed      Output = "listing"
	Named       Output = "operands"
	Matching    Output = "matching"
	Sought      Output = "sought"
	Selected    Output = "selected"
)

// Fills says how the files that are written get the content of those that are read.
type Fills string

// The ways of filling files.
const (
	Copied    Fills = "copied"
	Unpacked  Fills = "unpacked"
	FromInput Fills = "input"
	Parts     Fills = "parts"
	Expanded  Fills = "expanded"
	Compiled  Fills = "compiled"
)

// Loses says which operands have lost their content afterwards, or are taken for links themselves.
type Loses string

// The operands that lose their content.
const (
	All             Loses = "all"
	Sources         Loses = "sources"
	UnlessAppending Loses = "unless_appending"
	OntoDevice      Loses = "onto_device"
)

// Undescribed is how the arguments of a program are read that nothing describes.
var Undescribed Program

// Of is the grammar of a program by its own name.
func Of(name string) *Program {
	if p := of(name); p != nil {
		return p
	}
	return &Undescribed
}

// Entry is all that the grammars say of a name.
type Entry struct {
	Name string
	// Own is what it says of the name, Described how the program reads its arguments.
	Own, Described *Program
	// Language is the one that the program interprets, empty if it does not.
	Language string
	// Explained says that the grammar tells what the program does with its words, OnlyOptions
	// that it describes nothing but its options.
	Explained, OnlyOptions bool
}

// Look finds all that the grammars say of a name.
func Look(name string) *Entry {
	if e, ok := entries.Load(name); ok {
		return e.(*Entry)
	}
	e := entryOf(name)
	if of(name) == nil {
		return e
	}
	same, _ := entries.LoadOrStore(name, e)
	return same.(*Entry)
}

// entries are those of the names that have a grammar and were looked for.
var entries sync.Map

func entryOf(name string) *Entry {
	own := Of(name)
	e := &Entry{Name: name, Own: own, Described: own, Language: interpreterOf(name), OnlyOptions: own.onlyOptions()}
	if !own.isDescribed() {
		e.Described = Description(name)
	}
	e.Explained = own.explains() || Explains(name)
	return e
}

// Description says how a program reads its arguments, by its name or that of its family:
// python for python3.11.
func Description(name string) *Program {
	if p := of(name); p.isDescribed() {
		return p
	}
	if family := Family(name); family != name {
		if p := of(family); p.isDescribed() {
			return p
		}
	}
	return &Undescribed
}

// Explains says that the grammar tells what a program does with the words that it is given;
// it is false for a program that nothing describes.
func Explains(name string) bool {
	if of(name).explains() {
		return true
	}
	family := Family(name)
	return family != name && of(family).explains()
}

func (p *Program) explains() bool {
	return p != nil && (p.isDescribed() || p.Grammar+p.Language+p.Like != "" || p.Wraps != "" || p.Inert || p.Unsettles)
}

// onlyOptions says that of a program nothing but its options is described.
func (p *Program) onlyOptions() bool {
	return p.isDescribed() && p.Operands == Unnamed && p.Grammar == "" && p.Language == "" && p.Wraps == "" && p.Subcommands == nil &&
		p.Input == "" && !p.Unsettles && !p.Inert
}

// Starts says that a word may be the program that another one starts: it is a name that
// the grammar or the policies know, and no part of the shell.
func Starts(name string) bool {
	if p := of(name); p != nil && (len(p.Finds) == 0 || p.explains()) {
		return !p.Unsettles || p.Wraps != "" || p.Grammar != ""
	}
	return judged(name) || Interpreter(name) != ""
}

func (p *Program) isDescribed() bool {
	return p != nil && (p.Operands != Unnamed || p.Options != nil || p.Long || p.Strict || p.Plus)
}

// Spelt is a long option as the program takes it, which may be abbreviated. Of several
// that it may mean it is the shortest.
func (p *Program) Spelt(name string) string {
	if _, known := p.Options[name]; known || slices.Contains(p.Flags, name) {
		return name
	}
	if len(p.Flags) == 0 {
		return p.onlyMeans(name)
	}
	meant := ""
	consider := func(option string) {
		longer := len(option) > len(meant) || len(option) == len(meant) && option > meant
		if strings.HasPrefix(option, name) && (meant == "" || !longer) {
			meant = option
		}
	}
	for option := range p.Options {
		consider(option)
	}
	for _, option := range p.Flags {
		consider(option)
	}
	return cmp.Or(meant, name)
}

// onlyMeans is the one option that a name abbreviates, of a program whose other options
// are not described: half of it must be there.
func (p *Program) onlyMeans(name string) string {
	meant := name
	for option := range p.Options {
		if !strings.HasPrefix(option, name) || 2*len(name) < len(option) {
			continue
		}
		if meant != name {
			return name
		}
		meant = option
	}
	return meant
}

// Family is an interpreter's name without its version.
func Family(name string) string {
	if end := len(name) - 1; end >= 0 && strings.IndexByte("0123456789.-", name[end]) >= 0 {
		name = strings.TrimRight(name, "0123456789.-")
	}
	if language := Of(name).Language; language != "" && language != "shell" {
		return language
	}
	return name
}

// Interpreter is the language a program interprets, empty if it does not.
func Interpreter(name string) string {
	if of(name) != nil {
		return Look(name).Language
	}
	return interpreterOf(name)
}

func interpreterOf(name string) string {
	switch language := Of(name).Language; language {
	case "shell", name:
		return language
	}
	if family := Family(name); Of(family).Language == family {
		return family
	}
	return ""
}

// Known says that an entry says anything of a name.
func Known(name string) bool { return of(name) != nil || judged(name) }

// BaseName is the name of a compiler in one that ends in a version, such as "gcc" for "gcc-12". Any other name is the program's
// own, so that a row which a table has for it holds.
func BaseName(name string) string {
	bare := strings.TrimRight(name, "0123456789.-")
	if len(bare) == len(name) || judged(name) || !strings.ContainsAny(name[len(name)-1:], "0123456789") || !Of(bare).Versioned {
		return name
	}
	return bare
}

// InterpreterLike is the interpreter that a file system finds under a name, where capitals and small letters are the same
// to it; empty if there is none.
func InterpreterLike(name string) string { return interpreters()[strings.ToLower(name)] }

var interpreters = sync.OnceValue(func() map[string]string {
	names := map[string]string{}
	for name, text := range shipped().texts {
		if len(name) <= 2 || !strings.Contains(text, "language:") { // a shorter one may be an alias
			continue
		}
		if p := of(name); p != nil && p.Language != "" {
			names[strings.ToLower(name)] = name
		}
	}
	return names
})
