package languages

import (
	"path"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// LanguageOf is the language that the ending of a file's name tells, empty if it tells none.
func LanguageOf(file string) string { return languagesOf[path.Ext(file)] }

// IsCompiled says that a file is a source in a language that is not read.
func IsCompiled(file string) bool { return compiledSources[path.Ext(file)] }

// languagesOf are the languages that the ending of a file's name tells.
var languagesOf = map[string]string{".py": "python", ".js": "node", ".cjs": "node", ".mjs": "node", ".ts": "node", ".mts": "node",
	".cts": "node", ".pl": "perl", ".rb": "ruby", ".sh": "shell"}

// compiledSources are the endings of sources in languages that are not read.
var compiledSources = value.SetOf(`.go .java .kt .kts .rs .swift .zig .cr .nim .nims .d .v .c .cc .cpp .cxx .cu .m .mm .scala .sc .dart .cs
	.csx .hs .ml .lisp .lsp .pas .f .f90 .f95 .adb .cob .cbl`)
