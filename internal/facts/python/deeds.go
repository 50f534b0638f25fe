package python

import "strings"

// pyDeedKind is what a call does.
type pyDeedKind uint8

const (
	pyNothing     pyDeedKind = iota
	pyShellText              // arg 0 is shell text
	pyRun                    // arg 0 is a command as a list, or as text with shell=True
	pyRunRest                // all arguments from skip on are a command
	pyRunPath                // arg skip is a program, the next its arguments as a list
	pyRunPathRest            // arg skip is a program, the others its arguments from the name on
	pyExecCode               // arg 0 is Python
	pyCompileCode            // arg 0 is Python, not yet run
	pyHidesCode              // runs what the text does not tell
	pyImportNamed            // arg 0 names a module
	pyHidesImport
	pyGetAttribute
	pyNamespace // globals(), locals(), vars()
	pyOpenFile
	pyReads   // args are paths
	pyWrites  // args are paths
	pyCopies  // arg 0 is read, arg 1 written
	pyMoves   // both are written
	pyGetenv  // arg 0 names a variable
	pyEnviron // the environment itself
	pyEnvironAll
	pyEnvironSet
	pyMakePath
	pyJoin
	pyExpandUser
	pySamePath
	pyWorkdir
	pyHome
	pyChdir
	pyDecode // text from an encoding
	pyCharacter
	pyMakeText
	pyMakeList
	pyMap
	pyReversed
	pyJoinWords
	pyQuote
	pySplitWords
	pyPureText // the argument as text
)

// pyDeed is what calls of one name do; args are the places of its paths, skip
// is where its command starts.
type pyDeed struct {
	kind pyDeedKind
	args []int
	skip int
	// name is the keyword for the first path.
	name string
}

var pyDeeds = map[string]pyDeed{
	"os.system": {kind: pyShellText, name: "command"}, "os.popen": {kind: pyShellText, name: "cmd"},
	"subprocess.getoutput": {kind: pyShellText, name: "cmd"}, "subprocess.getstatusoutput": {kind: pyShellText, name: "cmd"},
	"commands.getoutput": {kind: pyShellText}, "commands.getstatusoutput": {kind: pyShellText}, "popen2.popen2": {kind: pyShellText},
	"asyncio.create_subprocess_shell": {kind: pyShellText, name: "cmd"}, "asyncio.subprocess.create_subprocess_shell": {kind: pyShellText, name: "cmd"},
	"pexpect.spawn": {kind: pyShellText, name: "command"}, "pexpect.run": {kind: pyShellText, name: "command"},

	"subprocess.run": {kind: pyRun}, "subprocess.call": {kind: pyRun}, "subprocess.check_call": {kind: pyRun},
	"subprocess.check_output": {kind: pyRun}, "subprocess.Popen": {kind: pyRun}, "pty.spawn": {kind: pyRun},
	"asyncio.create_subprocess_exec": {kind: pyRunRest}, "asyncio.subprocess.create_subprocess_exec": {kind: pyRunRest},

	"os.execv": {kind: pyRunPath}, "os.execve": {kind: pyRunPath}, "os.execvp": {kind: pyRunPath}, "os.execvpe": {kind: pyRunPath},
	"os.posix_spawn": {kind: pyRunPath}, "os.posix_spawnp": {kind: pyRunPath},
	"os.spawnv": {kind: pyRunPath, skip: 1}, "os.spawnve": {kind: pyRunPath, skip: 1}, "os.spawnvp": {kind: pyRunPath, skip: 1}, "os.spawnvpe": {kind: pyRunPath, skip: 1},
	"os.execl": {kind: pyRunPathRest}, "os.execle": {kind: pyRunPathRest}, "os.execlp": {kind: pyRunPathRest}, "os.execlpe": {kind: pyRunPathRest},
	"os.spawnl": {kind: pyRunPathRest, skip: 1}, "os.spawnle": {kind: pyRunPathRest, skip: 1}, "os.spawnlp": {kind: pyRunPathRest, skip: 1}, "os.spawnlpe": {kind: pyRunPathRest, skip: 1},

	"exec": {kind: pyExecCode}, "eval": {kind: pyExecCode}, "compile": {kind: pyCompileCode},
	"timeit.timeit": {kind: pyExecCode}, "cProfile.run": {kind: pyExecCode}, "pdb.run": {kind: pyExecCode},
	"execfile": {kind: pyHidesCode}, "runpy.run_path": {kind: pyHidesCode}, "runpy.run_module": {kind: pyHidesCode},
	"code.interact": {kind: pyHidesCode}, "code.InteractiveInterpreter": {kind: pyHidesCode}, "code.InteractiveConsole": {kind: pyHidesCode},
	"types.FunctionType": {kind: pyHidesCode}, "types.CodeType": {kind: pyHidesCode}, "os.fork": {kind: pyNothing},
	"marshal.loads": {kind: pyHidesCode}, "marshal.load": {kind: pyHidesCode}, "pickle.loads": {kind: pyHidesCode}, "pickle.load": {kind: pyHidesCode},
	"pickle.Unpickler": {kind: pyHidesCode}, "cPickle.loads": {kind: pyHidesCode}, "_pickle.loads": {kind: pyHidesCode}, "dill.loads": {kind: pyHidesCode}, "dill.load": {kind: pyHidesCode},
	"cloudpickle.loads": {kind: pyHidesCode}, "cloudpickle.load": {kind: pyHidesCode}, "yaml.unsafe_load": {kind: pyHidesCode}, "pandas.read_pickle": {kind: pyHidesCode}, "jsonpickle.decode": {kind: pyHidesCode},
	"sys.settrace": {kind: pyHidesCode}, "gc.get_objects": {kind: pyHidesCode}, "sys._getframe": {kind: pyHidesCode}, "inspect.currentframe": {kind: pyHidesCode},

	"__import__": {kind: pyImportNamed}, "importlib.import_module": {kind: pyImportNamed}, "importlib.__import__": {kind: pyImportNamed},
	"imp.load_source": {kind: pyHidesImport}, "importlib.util.spec_from_file_location": {kind: pyHidesImport}, "importlib.machinery.SourceFileLoader": {kind: pyHidesImport},
	"zipimport.zipimporter": {kind: pyHidesImport}, "pkgutil.get_loader": {kind: pyHidesImport}, "importlib.reload": {kind: pyHidesImport},
	"getattr": {kind: pyGetAttribute}, "globals": {kind: pyNamespace}, "locals": {kind: pyNamespace}, "vars": {kind: pyNamespace},

	"open": {kind: pyOpenFile}, "io.open": {kind: pyOpenFile}, "codecs.open": {kind: pyOpenFile}, "os.open": {kind: pyOpenFile}, "os.fdopen": {kind: pyNothing},
	"gzip.open": {kind: pyOpenFile}, "bz2.open": {kind: pyOpenFile}, "lzma.open": {kind: pyOpenFile}, "tarfile.open": {kind: pyOpenFile}, "zipfile.ZipFile": {kind: pyOpenFile}, "aiofiles.open": {kind: pyOpenFile},

	"os.listdir": reads("path"), "os.scandir": reads("path"), "os.walk": reads("top"), "os.stat": reads("path"), "os.lstat": reads("path"), "os.readlink": reads("path"), "os.access": reads("path"),
	"os.path.exists": reads("path"), "os.path.isfile": reads("path"), "os.path.isdir": reads("s"), "os.path.getsize": reads("filename"), "os.path.getmtime": reads("filename"),
	"glob.glob": reads("pathname"), "glob.iglob": reads("pathname"), "pandas.read_csv": reads("filepath_or_buffer"), "pandas.read_excel": reads("io"), "pandas.read_json": reads(""), "pandas.read_parquet": reads("path"),
	"linecache.getline": reads("filename"), "linecache.getlines": reads("filename"), "fileinput.input": reads("files"), "numpy.load": reads("file"), "numpy.loadtxt": reads("fname"), "dotenv.load_dotenv": reads("dotenv_path"), "dotenv.dotenv_values": reads("dotenv_path"),

	"os.remove": writes("path"), "os.unlink": writes("path"), "os.rmdir": writes("path"), "os.removedirs": writes("name"), "os.mkdir": writes("path"), "os.makedirs": writes("name"),
	"os.chmod": writes("path"), "os.lchmod": writes("path"), "os.chown": writes("path"), "os.lchown": writes("path"), "os.truncate": writes("path"), "os.utime": writes("path"), "os.mkfifo": writes("path"), "os.mknod": writes("path"), "os.setxattr": writes("path"), "os.chroot": writes("path"),
	"shutil.rmtree": writes("path"), "shutil.chown": writes("path"), "send2trash.send2trash": writes(""), "shutil.make_archive": writes("base_name"), "numpy.save": writes("file"), "numpy.savetxt": writes("fname"),
	"shutil.copy": {kind: pyCopies}, "shutil.copy2": {kind: pyCopies}, "shutil.copyfile": {kind: pyCopies}, "shutil.copytree": {kind: pyCopies}, "shutil.copymode": {kind: pyCopies}, "shutil.copystat": {kind: pyCopies}, "os.link": {kind: pyCopies}, "os.symlink": {kind: pyCopies}, "shutil.unpack_archive": {kind: pyCopies},
	"os.rename": {kind: pyMoves}, "os.renames": {kind: pyMoves}, "os.replace": {kind: pyMoves}, "shutil.move": {kind: pyMoves},

	"os.getenv": {kind: pyGetenv}, "os.getenvb": {kind: pyGetenv}, "os.environ.get": {kind: pyGetenv}, "os.environb.get": {kind: pyGetenv}, "os.environ.pop": {kind: pyGetenv}, "os.environ.setdefault": {kind: pyGetenv}, "os.environ.__getitem__": {kind: pyGetenv}, "os.unsetenv": {kind: pyNothing},
	"os.environ.copy": {kind: pyEnviron}, "os.environ.items": {kind: pyEnvironAll}, "os.environ.values": {kind: pyEnvironAll}, "os.environ.keys": {kind: pyEnvironAll}, "os.environ.__repr__": {kind: pyEnvironAll}, "os.environ.__str__": {kind: pyEnvironAll},
	"os.putenv": {kind: pyEnvironSet}, "os.environ.update": {kind: pyEnvironSet}, "os.environ.__setitem__": {kind: pyEnvironSet}, "copy.copy": {kind: pyPureText}, "copy.deepcopy": {kind: pyPureText},

	"pathlib.Path": {kind: pyMakePath}, "pathlib.PurePath": {kind: pyMakePath}, "pathlib.PosixPath": {kind: pyMakePath}, "pathlib.PurePosixPath": {kind: pyMakePath},
	"os.path.join": {kind: pyJoin}, "os.path.expanduser": {kind: pyExpandUser}, "os.path.expandvars": {kind: pyExpandUser},
	"os.path.abspath": {kind: pySamePath}, "os.path.realpath": {kind: pySamePath}, "os.path.normpath": {kind: pySamePath}, "os.fspath": {kind: pySamePath}, "os.fsencode": {kind: pySamePath}, "os.fsdecode": {kind: pySamePath},
	"os.getcwd": {kind: pyWorkdir}, "pathlib.Path.cwd": {kind: pyWorkdir}, "pathlib.Path.home": {kind: pyHome}, "os.chdir": {kind: pyChdir},

	"base64.b64decode": {kind: pyDecode, name: "base64"}, "base64.standard_b64decode": {kind: pyDecode, name: "base64"}, "base64.urlsafe_b64decode": {kind: pyDecode, name: "base64"}, "base64.decodebytes": {kind: pyDecode, name: "base64"}, "base64.decodestring": {kind: pyDecode, name: "base64"},
	"base64.b32decode": {kind: pyDecode, name: "base32"}, "base64.b16decode": {kind: pyDecode, name: "hex"}, "base64.b85decode": {kind: pyDecode, name: "?"}, "base64.a85decode": {kind: pyDecode, name: "?"},
	"binascii.unhexlify": {kind: pyDecode, name: "hex"}, "binascii.a2b_hex": {kind: pyDecode, name: "hex"}, "binascii.a2b_base64": {kind: pyDecode, name: "base64"}, "binascii.a2b_uu": {kind: pyDecode, name: "?"},
	"bytes.fromhex": {kind: pyDecode, name: "hex"}, "bytearray.fromhex": {kind: pyDecode, name: "hex"}, "codecs.decode": {kind: pyDecode}, "codecs.encode": {kind: pyDecode},
	"zlib.decompress": {kind: pyDecode, name: "zlib"}, "gzip.decompress": {kind: pyDecode, name: "gzip"}, "bz2.decompress": {kind: pyDecode, name: "bz2"}, "lzma.decompress": {kind: pyDecode, name: "?"}, "urllib.parse.unquote": {kind: pyDecode, name: "percent"}, "html.unescape": {kind: pyDecode, name: "?"},
	"chr": {kind: pyCharacter}, "str": {kind: pyMakeText}, "bytes": {kind: pyMakeText}, "bytearray": {kind: pyMakeText}, "repr": {kind: pyMakeText}, "format": {kind: pyMakeText}, "ascii": {kind: pyMakeText},
	"list": {kind: pyMakeList}, "tuple": {kind: pyMakeList}, "set": {kind: pyMakeList}, "sorted": {kind: pyMakeList}, "iter": {kind: pyMakeList}, "next": {kind: pyMakeList}, "map": {kind: pyMap}, "reversed": {kind: pyReversed},
	"shlex.join": {kind: pyJoinWords}, "subprocess.list2cmdline": {kind: pyJoinWords}, "shlex.quote": {kind: pyQuote}, "pipes.quote": {kind: pyQuote}, "shlex.split": {kind: pySplitWords},
	"textwrap.dedent": {kind: pyPureText}, "inspect.cleandoc": {kind: pyPureText}, "io.StringIO": {kind: pyPureText}, "memoryview": {kind: pyPureText}, "typing.cast": {kind: pyNothing},
}

func reads(name string) pyDeed  { return pyDeed{kind: pyReads, args: []int{0}, name: name} }
func writes(name string) pyDeed { return pyDeed{kind: pyWrites, args: []int{0}, name: name} }

// dangerousModules are those that can run anything by a name that is computed.
var dangerousModules = map[string]bool{
	"os": true, "posix": true, "subprocess": true, "builtins": true, "__builtins__": true, "importlib": true, "ctypes": true,
	"pty": true, "commands": true, "sys.modules": true, "asyncio.subprocess": true, "shutil": true, "runpy": true, "code": true, "globals()": true, "locals()": true,
}

// dangerous says whether whoever has what a name stands for can run anything.
func dangerous(name string) bool {
	d := pyDeeds[name]
	return d.kind >= pyShellText && d.kind <= pyNamespace || dangerousModules[name] || strings.HasPrefix(name, "ctypes.")
}

// effective says whether calls of a name do something that counts.
func effective(name string) bool {
	_, known := pyDeeds[name]
	return known
}

// revealing are the attributes by which a program reaches what it did not import.
var revealing = map[string]bool{
	"__subclasses__": true, "__globals__": true, "__builtins__": true, "__code__": true, "__getattribute__": true, "__mro__": true, "__bases__": true,
	"f_globals": true, "f_locals": true, "f_builtins": true, "gi_frame": true, "tb_frame": true, "cr_frame": true, "__loader__": true, "__reduce__": true, "load_module": true, "exec_module": true, "func_globals": true,
}

// deedOfModule is what calls do that only their module tells of.
func deedOfModule(name string) pyDeed {
	if strings.HasPrefix(name, "ctypes.") || strings.HasPrefix(name, "cffi.") {
		return pyDeed{kind: pyHidesCode}
	}
	return pyDeed{}
}
