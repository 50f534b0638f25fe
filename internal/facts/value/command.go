// Package value holds what the readers of every language share: the facts of a text, the
// place where it runs, where a text came from, and how paths and hosts are spelt.
//
// What is promised: nothing here reads a text, and nothing is looked up. Lists are
// sorted, without repeats, and never nil.
//
// Not here: what a language means (packages shell and python), and what one program
// does with its arguments.
package value

import "github.com/bailiff-dev/bailiff"

// Command is what a shell text would do.
type Command struct {
	Text string `json:"text"`
	// Parsed is false when the text is not shell that the parser knows; every
	// list is then empty and Complete is false.
	Parsed bool `json:"parsed"`
	// Complete is false wherever the text hides what will run: a program name
	// that is not known, eval of something unknown, a decoded payload.
	Complete bool `json:"complete"`
	// Programs are the base names of all programs called, sorted, without repeats.
	Programs []string `json:"programs"`
	Calls    []Call   `json:"calls"`
	// Hosts are the host names and addresses that calls name, in URLs or as
	// operands of programs that connect; lower case, without port.
	Hosts []string `json:"hosts"`
	// Reads and Writes are the paths of all calls and redirections, sorted. Device
	// files that hold nothing, such as /dev/null, are left out.
	Reads  []string `json:"reads"`
	Writes []string `json:"writes"`
	// Variables are the names of the variables that the text expands and did not
	// assign itself.
	Variables []string `json:"variables"`
	// Features are the Feature… names that occur, sorted. Those of the nested
	// texts that are seen through are among them.
	Features []string `json:"features"`
	// Assigns are the names of the variables that the text assigns anywhere.
	Assigns []string `json:"assigns"`
	// Settings are what variables are given, as "NAME=value".
	// The parts of a value that the text does not tell are written as in Argv.
	Settings []string `json:"settings"`
	// Loses are the paths among Writes whose content is gone afterwards: deleted,
	// moved away, or overwritten from the start by a redirection.
	Loses []string `json:"loses"`
	// Files are the paths of the files that the text runs or sources ("sh ./x.sh", "./x",
	// "source x", "python x.py"), or whose content it puts into such a file before. They are
	// spelt for the program that opens them: absolute or as seen from where the text starts, ".." left
	// for the file system to follow, "~" the home folder. Where the text does not tell, a
	// path holds "$" or a wildcard, or starts with "\~": such a file cannot be known.
	Files []string `json:"-"`
	// Made are those of Files that the text itself fills, and Sources the files of which it makes those, but for what it compiles.
	Made    []string `json:"-"`
	Sources []string `json:"-"`
	// Origins are of the files that the text fills from the network, by a decoder or by a compiler, by their paths, spelt as in Files.
	Origins []bailiff.Origin `json:"-"`
	// Modules are those of Opens that would be modules which the text loads by their names, and the patterns of the files that
	// its programs find and run by themselves.
	Modules []string `json:"-"`
	// Opens are the paths, spelt as in Files, of other files by which the text may come to
	// mean something else: those that programs look for by a name in folders that the text
	// chooses, and, where the text is not complete, each whose content it reads.
	Opens []string `json:"-"`
	// Supposed is what the words of programs that nothing describes would do, if those
	// programs start what their words name ("cat x" in "unheard-of cat x"). It is nil
	// where no word does. Nothing in it is among the facts above, its Text is the words
	// that are read so, and it counts as complete.
	Supposed *Command `json:"supposed,omitempty"`
	// Code is what the Python programs in the text would do, all of them together. Their files,
	// hosts and settings, and the shell text that they run, are among the facts above; it has no
	// Command. It is nil where there is none, or none that is complete: see FeatureUnreadProgram.
	Code *Code `json:"code,omitempty"`
}

// Call is one program that the text would start.
type Call struct {
	// Program is the base name ("rm" for /bin/rm and for "busybox rm"); empty if
	// the text does not tell, and Complete is false then.
	Program string `json:"program"`
	// Argv is the program as spelt, and its arguments, expanded as far as known.
	// A word with an unknown part has that part written as "$NAME" or "$(…)", a
	// process substitution is "<(…)", and the home folder is "~". What "find -exec"
	// or "find | xargs" hands over is written as the pattern that find looks for.
	Argv []string `json:"argv"`
	// Flags are the options, one by one: "-rf" is "-r" and "-f", "--force=x" is
	// "--force". Options of several letters with one dash stay whole for programs
	// that have such ("-name" of find). Operands are the other arguments; option
	// values that the program is known to take are neither. For a wrapper that
	// ends its options at the first operand (sudo, env, timeout …), the operands
	// are the words of the command inside.
	Flags    []string `json:"flags"`
	Operands []string `json:"operands"`
	// Wrappers are the programs this call was reached through, outermost first:
	// sudo, env, nohup, timeout, nice, xargs, find, sh, bash, busybox, ssh …
	// Each wrapper is a call of its own as well.
	Wrappers []string `json:"wrappers"`
	// Reads are the paths this call reads, Writes those it creates, changes,
	// deletes, or whose permissions it changes; redirections included. Those of a program
	// that nothing describes are the paths that its words may name.
	Reads  []string `json:"reads"`
	Writes []string `json:"writes"`
	// Assigns are the names of the variables assigned for this call ("X=1 cmd",
	// "env X=1 cmd") or exported before it.
	Assigns []string `json:"assigns"`
	// PipesTo is the program its output is piped to, seen through wrappers
	// ("bash" for "| sudo bash"); empty if none.
	PipesTo string `json:"pipes_to"`
}

// Code is what a Python program would do.
type Code struct {
	// Language is "python".
	Language string `json:"language"`
	Parsed   bool   `json:"parsed"`
	// Complete is false when the program hides what it runs: exec or eval of
	// something unknown, a computed import, a shell command that is not a literal.
	Complete bool `json:"complete"`
	// Imports are full module names, aliases resolved.
	Imports []string `json:"imports"`
	// Calls are called names with aliases resolved: "subprocess.run", "open".
	Calls []string `json:"calls"`
	// Strings are the string literals, each cut at 4 KiB, at most 1,000.
	Strings []string `json:"strings"`
	// Variables are names read from the environment: os.environ["X"], os.getenv("X").
	Variables []string `json:"variables"`
	// Hosts, Reads and Writes are literal hosts and paths given to calls that
	// connect, read (open) and write or delete (open "w", os.remove, shutil.rmtree).
	Hosts  []string `json:"hosts"`
	Reads  []string `json:"reads"`
	Writes []string `json:"writes"`
	// Touches are paths given to calls that nothing describes, which may read and write them.
	Touches []string `json:"touches"`
	// Settings and Loses are as in a Command.
	Settings []string `json:"settings"`
	Loses    []string `json:"loses"`
	// Features: "dynamic_exec", "dynamic_import", "ctypes", "decode_and_run", "download_and_run", "network",
	// "fork_bomb", "kills_everything", "widens_permissions", "sets_setuid", "sends_environment", "sends_files", "shows_environment",
	// "sends_machine", "tries_passwords", "sweeps_hosts".
	Features []string `json:"features"`
	// Command is the shell text it gives to os.system, subprocess and the like,
	// all of it joined by newlines and analysed; nil if there is none.
	Command *Command `json:"command,omitempty"`
	// Folders are those in which the program looks for modules beside the usual ones, Members the names that it
	// imports from modules, which may be modules in them.
	Folders, Members []string `json:"-"`
	// Loads are the files that hold objects which run what they name when they are loaded.
	Loads []string `json:"-"`
	// Origins are as in a Command.
	Origins []bailiff.Origin `json:"-"`
}

// UnreadText is all that is known of a text that is not shell.
func UnreadText(text string) Command {
	none := []string{}
	return Command{Text: text, Programs: none, Calls: []Call{}, Hosts: none, Reads: none, Writes: none,
		Variables: none, Features: none, Assigns: none, Settings: none, Loses: none, Files: none, Made: none, Sources: none, Opens: none,
		Modules: none, Origins: []bailiff.Origin{}}
}
