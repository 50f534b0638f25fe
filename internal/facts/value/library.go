package value

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
	"sync"
)

//go:embed library.txt
var libraryText string

// inner are modules that those of Python's library load, and programs do not, and those that the interpreter loads
// by itself: sys.stdlib_module_names of Python 3.11 and the documentation of its module site.
const inner = "_abc _aix_support _ast _asyncio _bisect _blake2 _bootsubprocess _bz2 _codecs _collections _collections_abc " +
	"_compat_pickle _compression _contextvars _crypt _csv _ctypes _curses _curses_panel _datetime _dbm _decimal _elementtree " +
	"_functools _gdbm _hashlib _heapq _imp _io _json _locale _lsprof _lzma _markupbase _md5 _multibytecodec _multiprocessing " +
	"_opcode _operator _osx_support _pickle _posixshmem _posixsubprocess _py_abc _pydecimal _pyio _queue _random _scproxy " +
	"_sha1 _sha256 _sha3 _sha512 _signal _sitebuiltins _socket _sqlite3 _sre _ssl _stat _statistics _string _strptime " +
	"_struct _symtable _thread _threading_local _tkinter _tokenize _tracemalloc _typing _uuid _warnings _weakref " +
	"_weakrefset _zoneinfo sitecustomize usercustomize"

// PythonLibrary are the modules of Python's library, by sys.stdlib_module_names of Python 3.11: what is imported from one
// is no file of a project.
var PythonLibrary = sync.OnceValue(func() map[string]bool { return SetOf(libraryText) })

var shadowed = sync.OnceValue(func() map[string]bool {
	names := SetOf(libraryText + " " + inner)
	for loaded := range EverLoaded {
		delete(names, loaded)
	}
	return names
})

// EverLoaded are modules of Python that no file can stand for: they are part of the interpreter, or loaded before a
// program begins.
var EverLoaded = SetOf("sys builtins time itertools marshal gc errno atexit posix pwd faulthandler " +
	"os os.path io abc codecs stat posixpath genericpath site __future__")

// ShadowPatterns are those of the names of files which a folder may hold for modules, ShadowNames the modules that these may
// stand for.
var (
	ShadowPatterns = []string{"*.[ps][yo]*", "*/__init__*.[ps][yo]*"}
	ShadowNames    = sync.OnceValue(func() []string { return slices.Sorted(maps.Keys(shadowed())) })
)

// Shadows says whether Python takes a file of a folder that it searches, such as "re.py", for a module of its library.
func Shadows(file string) bool {
	if folder, below, ok := strings.Cut(file, "/"); ok {
		name, ending, _ := strings.Cut(below, ".")
		return shadowed()[folder] && name == "__init__" && isModule(ending)
	}
	name, ending, _ := strings.Cut(file, ".")
	return shadowed()[name] && isModule(ending)
}

// isModule says that Python loads files of an ending.
func isModule(ending string) bool {
	return ending == "py" || ending == "pyc" || ending == "so" || strings.HasSuffix(ending, ".so")
}
