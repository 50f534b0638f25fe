package languages

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// RunsInPackages says that by an option a package manager runs scripts of other packages of the project.
func RunsInPackages(option string) bool {
	name, _, _ := strings.Cut(option, "=")
	return slices.Contains(inPackages, name)
}

var inPackages = []string{"-w", "--workspace", "--workspaces", "-ws", "-r", "--recursive", "--filter", "-F"}

// composerEvents are the scripts that composer runs beside its own work.
var composerEvents = []string{"pre-install-cmd", "post-install-cmd", "pre-update-cmd", "post-update-cmd", "pre-autoload-dump",
	"post-autoload-dump", "pre-package-install", "post-package-install", "pre-package-update", "post-package-update"}

// ScriptText is the text of a script, which is one or a list of them. What a manager has other words for is put as commands:
// "@php x" is a call of PHP, "@x" another script, and "A::b" a function of the project's own.
type ScriptText string

// UnmarshalJSON reads one text, or several. What is neither, such as a task with settings, is none that is read here.
func (s *ScriptText) UnmarshalJSON(data []byte) error {
	var lines []string
	if json.Unmarshal(data, &lines) != nil {
		lines = make([]string, 1)
		if err := json.Unmarshal(data, &lines[0]); err != nil {
			return err
		}
	}
	for i, line := range lines {
		word, rest, _ := strings.Cut(line, " ")
		name, at := strings.CutPrefix(word, "@")
		switch {
		case at && name == "putenv":
			lines[i] = "export " + rest
		case at && (name == "php" || name == "composer"):
			lines[i] = name + " " + rest
		case at:
			lines[i] = "composer run " + name + " " + rest
		case composerFunction.MatchString(line):
			lines[i] = ":"
		}
	}
	*s = ScriptText(strings.Join(lines, "\n"))
	return nil
}

// composerFunction matches the name of a function of PHP.
var composerFunction = regexp.MustCompile(`^[\w\\]+::\w+$`)

// ScriptNames are the scripts that a command of a package manager runs.
func ScriptNames(words []string) []string {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return strings.HasPrefix(w, "-") })
	if len(words) == 0 {
		return nil
	}
	main := words[0]
	switch main {
	case "run", "run-script", "task":
		if len(words) < 2 {
			return nil
		}
		main = words[1]
	case "t", "tst":
		main = "test"
	case "install", "i", "ci", "add", "rebuild":
		return append([]string{"preinstall", "install", "postinstall", "preprepare", "prepare", "postprepare"}, composerEvents...)
	case "update", "require", "remove", "dump-autoload", "dumpautoload":
		return composerEvents
	case "publish", "pack":
		return []string{"prepublishOnly", "prepack", "prepare", "postpack", "publish", "postpublish"}
	}
	return []string{"pre" + main, main, "post" + main}
}
