package shell

import (
	"github.com/bailiff-dev/bailiff/internal/facts/programs"
)

// grammar is what only Go can say of a program: each lies in the file of its name.
type grammar struct {
	// arguments reads the arguments of a call.
	arguments func(words []word, p *programs.Program) *arguments
	// runs does what a call runs; it is false for a call that runs nothing.
	runs func(r *reader, name string, inv *invocation, args *arguments) (result, bool)
	// files notes the files of a project that a call runs.
	files func(r *reader, name string, inv *invocation, args *arguments)
	// effects notes the files and hosts that a call names.
	effects func(e *effect, name string)
}

// grammarOf is the grammar of a name in programs.yaml.
func grammarOf(name string) grammar { return grammars[name] }

var grammars = map[string]grammar{
	"awk":            {runs: (*reader).awk, effects: awkEffects},
	"cmake":          {runs: (*reader).cmake},
	"command":        {runs: (*reader).named},
	"cpio":           {effects: cpioEffects},
	"curl":           {effects: downloadEffects},
	"dd":             {effects: ddEffects},
	"dig":            {effects: digEffects},
	"docker":         {arguments: dockerArguments, runs: (*reader).container, files: (*reader).compose, effects: mountsEffects},
	"docker-compose": {files: (*reader).dockerCompose},
	"dpkg":           {effects: dpkgEffects},
	"env":            {runs: (*reader).env},
	"exec":           {runs: (*reader).exec},
	"fd":             {runs: (*reader).find},
	"find":           {runs: (*reader).find, effects: findEffects},
	"flock":          {runs: (*reader).flock},
	"git":            {arguments: gitArguments, runs: (*reader).git, effects: gitEffects},
	"httpie":         {effects: httpieEffects},
	"kubectl":        {runs: (*reader).cluster},
	"make":           {files: (*reader).makefiles},
	"mosh":           {effects: sshEffects},
	"netcat":         {runs: (*reader).netcat},
	"ninja":          {files: (*reader).ninja},
	"nix-shell":      {runs: (*reader).nixShell},
	"parallel":       {runs: (*reader).parallel},
	"perl":           {effects: perlEffects},
	"screen":         {runs: (*reader).screen},
	"script":         {runs: (*reader).scriptOf},
	"sed":            {arguments: sedArguments, runs: (*reader).sed, effects: sedEffects},
	"socat":          {runs: (*reader).socat, effects: socatEffects},
	"source":         {effects: sourceEffects},
	"ssh":            {runs: (*reader).ssh, effects: sshEffects},
	"ssh-keygen":     {effects: sshKeygenEffects},
	"su":             {runs: (*reader).su},
	"tar":            {arguments: tarArguments, runs: (*reader).tar, effects: tarEffects},
	"tmux":           {runs: (*reader).tmux},
	"type":           {runs: (*reader).typeOf},
	"unzip":          {runs: (*reader).unzip, effects: unzipEffects},
	"vim":            {runs: (*reader).vim},
	"watch":          {runs: (*reader).watch},
	"wget":           {effects: downloadEffects},
	"which":          {runs: (*reader).which},
	"xargs":          {runs: (*reader).xargs},
}

// reader reads the calls of programs that have a grammar of their own.
type reader struct {
	*overlay
	starter
	interpreter
	// making are the makefiles and the scripts of projects that are being read.
	making []string
}

// starter reads what a program starts.
type starter interface {
	// text reads shell text.
	text(name string, inv *invocation, code word, sc *scope) result
	// inner reads the words of another call.
	inner(name string, inv *invocation, argv []word) result
	// input reads shell text that arrives on standard input.
	input(name string, inv *invocation, sc *scope) result
}

// interpreter reads what a program takes for more than words.
type interpreter interface {
	// runsNamed reads the file that an option or a variable names for a program to run.
	runsNamed(name string, file word, inv *invocation)
	// commands reads a program in a language of its own.
	commands(name string, p *programs.Program, inv *invocation, s stream)
	// leadingAssignments reads the assignments before a command; they are no part of the rest.
	leadingAssignments(words []word, inv *invocation) (rest []word, assigns []string)
}

func newReader(fs *overlay, starts starter, interprets interpreter) *reader {
	return &reader{overlay: fs, starter: starts, interpreter: interprets}
}
