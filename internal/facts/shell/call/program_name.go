package call

import (
	"cmp"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// ProgramName is the base name of a program word; ok is false if the text does not tell it.
func ProgramName(w word.Word) (name string, ok bool) {
	name = w.Text
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	} else if !w.Known {
		return "", false
	}
	if name == "" || !w.Known && strings.ContainsAny(name, "$<>(…{)") || w.Glob && word.HasWildcard(name) {
		return "", false
	}
	return canonicalName(name), true
}

// canonicalName is the name of a program without the ending that some systems give it or its version, and that of an interpreter where
// file systems take capitals and small letters for the same.
func canonicalName(name string) string {
	if programs.Of(name) != &programs.Undescribed {
		return name
	}
	bare, ended := strings.CutSuffix(name, ".exe")
	if !ended || bare == "" {
		bare = name
	}
	return cmp.Or(programs.InterpreterLike(bare), programs.BaseName(bare))
}
