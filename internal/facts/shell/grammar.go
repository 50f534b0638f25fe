package shell

import (
	"sync"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
)

// grammar is what only Go can say of a program: each lies in the file of its name.
type grammar struct {
	// arguments reads the arguments of a call.
	arguments func(words []word, p *programs.Program) *arguments
	// runs does what a call runs; it is false for a call that runs nothing.
	runs func(a *analysis, name string, inv *invocation, args *arguments) (result, bool)
	// files notes the files of a project that a call runs.
	files func(a *analysis, name string, inv *invocation, args *arguments)
	// effects notes the files and hosts that a call names.
	effects func(e *effect, name string)
}

// grammars are the grammars by the names in programs.yaml. They are filled at the first use: what a program runs is read by their
// grammars in turn, which Go takes for a circle in the value of a variable.
var grammars map[string]grammar

var fillGrammars sync.Once

// grammarOf is the grammar of a name in programs.yaml.
func grammarOf(name string) grammar {
	fillGrammars.Do(func() { grammars = grammarsByName() })
	return grammars[name]
}

func grammarsByName() map[string]grammar {
	return map[string]grammar{
		"awk":            {runs: (*analysis).awk, effects: (*effect).awk},
		"cmake":          {runs: (*analysis).cmake},
		"command":        {runs: (*analysis).named},
		"cpio":           {effects: (*effect).cpio},
		"curl":           {effects: (*effect).download},
		"dd":             {effects: (*effect).dd},
		"dig":            {effects: (*effect).dig},
		"docker":         {arguments: dockerArguments, runs: (*analysis).container, files: (*analysis).compose, effects: (*effect).mounts},
		"docker-compose": {files: (*analysis).dockerCompose},
		"dpkg":           {effects: (*effect).dpkg},
		"env":            {runs: (*analysis).env},
		"exec":           {runs: (*analysis).exec},
		"fd":             {runs: (*analysis).find},
		"find":           {runs: (*analysis).find, effects: (*effect).find},
		"flock":          {runs: (*analysis).flock},
		"git":            {arguments: gitArguments, runs: (*analysis).git, effects: (*effect).git},
		"httpie":         {effects: (*effect).httpie},
		"kubectl":        {runs: (*analysis).cluster},
		"make":           {files: (*analysis).makefiles},
		"mosh":           {effects: (*effect).ssh},
		"netcat":         {runs: (*analysis).netcat},
		"ninja":          {files: (*analysis).ninja},
		"nix-shell":      {runs: (*analysis).nixShell},
		"parallel":       {runs: (*analysis).parallel},
		"perl":           {effects: (*effect).perl},
		"screen":         {runs: (*analysis).screen},
		"script":         {runs: (*analysis).scriptOf},
		"sed":            {arguments: sedArguments, runs: (*analysis).sed, effects: (*effect).sed},
		"socat":          {runs: (*analysis).socat, effects: (*effect).socat},
		"source":         {effects: (*effect).source},
		"ssh":            {runs: (*analysis).ssh, effects: (*effect).ssh},
		"ssh-keygen":     {effects: (*effect).sshKeygen},
		"su":             {runs: (*analysis).su},
		"tar":            {arguments: tarArguments, runs: (*analysis).tar, effects: (*effect).tar},
		"tmux":           {runs: (*analysis).tmux},
		"type":           {runs: (*analysis).typeOf},
		"unzip":          {runs: (*analysis).unzip, effects: (*effect).unzip},
		"vim":            {runs: (*analysis).vim},
		"watch":          {runs: (*analysis).watch},
		"wget":           {effects: (*effect).download},
		"which":          {runs: (*analysis).which},
		"xargs":          {runs: (*analysis).xargs},
	}
}
