package library

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// Describes says that it is known what a call does with the files and commands that its arguments name: the table of calls tells it, or
// the module is one that opens and starts nothing.
func Describes(name string) bool {
	if onlyLook[name] || GivesItems[name] {
		return true
	}
	if d, known := Behaviours()[name]; known && (d.Kind != DoesNothing || !strings.Contains(name, ".")) {
		return true
	}
	top, rest, dotted := strings.Cut(name, ".")
	if !dotted {
		return Standard[top] || wordsOnly[name]
	}
	if top == "os" && strings.HasPrefix(rest, "path.") {
		return true
	}
	return lookingModules[top] || wordsOnly[top]
}

// wordsOnly are modules, and functions, to which a path or a command is a text like any other.
var wordsOnly = value.SetOf("abc argparse array ast asyncio bisect calendar click collections colorsys contextlib contextvars copy csv " +
	"dataclasses decimal difflib email enum errno fractions functools gettext graphlib heapq html http inspect io ipaddress itertools " +
	"keyword locale mimetypes numbers operator optparse posixpath ntpath pprint pydantic pytest queue random rich select selectors " +
	"shlex signal socket string struct tabulate textwrap threading time token tqdm types typer typing unicodedata unittest urllib " +
	"uuid warnings weakref zoneinfo loguru structlog termcolor colorama numpy math " +
	"super object property staticmethod classmethod type iter next enumerate zip filter map list dict set tuple frozenset getattr " +
	"setattr vars locals globals memoryview min max sorted reversed help breakpoint delattr aiter anext compile copyright " +
	"credits license " +
	"ArithmeticError AttributeError BaseException ConnectionError EOFError Exception FileExistsError FileNotFoundError ImportError " +
	"IndexError InterruptedError IOError IsADirectoryError LookupError MemoryError ModuleNotFoundError NameError NotADirectoryError " +
	"OverflowError PermissionError RecursionError ReferenceError StopAsyncIteration StopIteration SyntaxError SystemError TimeoutError " +
	"UnicodeError UserWarning Warning ZeroDivisionError DeprecationWarning FutureWarning RuntimeWarning")

// KeepsWords are methods that many classes have, and that open and start nothing that their arguments name.
var KeepsWords = value.SetOf("append appendleft extend add update insert setdefault remove discard pop popitem push put put_nowait get " +
	"set setdefault clear sort reverse index count keys values items copy add_argument add_parser add_option set_defaults register " +
	"connect_signal assertNotEqual assertRaises assertNotIn assertFalse assertIs assertIsNone assertRegex assertMultiLineEqual " +
	"add_url_rule route delete head patch post options match search sub findall fullmatch finditer compile test echo markdown " +
	"text label title header subheader caption code set_title set_xlabel set_ylabel legend annotate send_message " +
	"isin contains eq equals apply agg groupby filter where mask rename drop")

// Alike is the call that others are like which have its last name: what test.support.os_helper.rmtree and pip's deletes, too.
func Alike(name string) (Behaviour, string) {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if last == "rmtree" || last == "remove_tree" {
		return Behaviours()["shutil.rmtree"], "shutil.rmtree"
	}
	return Behaviours()["*."+last], name
}

// SaysOutput says that the name of a call, or of its keyword, tells that a file is written or gone.
func SaysOutput(name string) bool {
	name = strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
	for _, part := range outputs {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

var outputs = []string{"output", "outfile", "out_file", "out_path", "out_dir", "outdir", "write", "save", "dest",
	"export", "dump", "overwrite",
	"logfile", "log_file", "wipe", "unlink", "rmdir", "rmtree", "remove_", "truncate", "install"}

// TakenForGranted says that a name stands for something whose meaning is taken for granted: a call that does something, or that
// gives what is followed.
func TakenForGranted(name string) bool {
	d, known := Behaviours()[name]
	return Dangerous(name) || known && d.Kind != DoesNothing || name == "sys.executable" || name == "os.sep"
}
