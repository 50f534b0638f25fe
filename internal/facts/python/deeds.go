package python

import "strings"

// behaviourKind is what a call does.
type behaviourKind uint8

const (
	doesNothing     behaviourKind = iota
	doesShellText                 // arg 0 is shell text
	doesRun                       // arg 0 is a command as a list, or as text with shell=True
	doesRunRest                   // all arguments from skip on are a command
	doesRunPath                   // arg skip is a program, the next its arguments as a list
	doesRunPathRest               // arg skip is a program, the others its arguments from the name on
	doesExecCode                  // arg 0 is Python
	doesCompileCode               // arg 0 is Python, not yet run
	doesHidesCode                 // runs what the text does not tell
	doesImportNamed               // arg 0 names a module
	doesHidesImport
	doesGetAttribute
	doesNamespace // globals(), locals(), vars()
	doesOpenFile
	doesReads   // args are paths
	doesWrites  // args are paths
	doesCopies  // arg 0 is read, arg 1 written
	doesMoves   // both are written
	doesGetenv  // arg 0 names a variable
	doesEnviron // the environment itself
	doesEnvironAll
	doesEnvironSet
	doesMakePath
	doesJoin
	doesExpandUser
	doesSamePath
	doesWorkdir
	doesHome
	doesChdir
	doesDecode // text from an encoding
	doesCharacter
	doesMakeText
	doesMakeList
	doesMap
	doesReversed
	doesJoinWords
	doesQuote
	doesSplitWords
	doesPureText // the argument as text
)

// behaviour is what calls of one name do; args are the places of its paths, skip
// is where its command starts.
type behaviour struct {
	kind behaviourKind
	args []int
	skip int
	// name is the keyword for the first path.
	name string
}

var behaviours = map[string]behaviour{
	"os.system": {kind: doesShellText, name: "command"}, "os.popen": {kind: doesShellText, name: "cmd"},
	"subprocess.getoutput": {kind: doesShellText, name: "cmd"}, "subprocess.getstatusoutput": {kind: doesShellText, name: "cmd"},
	"commands.getoutput": {kind: doesShellText}, "commands.getstatusoutput": {kind: doesShellText}, "popen2.popen2": {kind: doesShellText},
	"asyncio.create_subprocess_shell": {kind: doesShellText, name: "cmd"}, "asyncio.subprocess.create_subprocess_shell": {kind: doesShellText, name: "cmd"},
	"pexpect.spawn": {kind: doesShellText, name: "command"}, "pexpect.run": {kind: doesShellText, name: "command"},

	"subprocess.run": {kind: doesRun}, "subprocess.call": {kind: doesRun}, "subprocess.check_call": {kind: doesRun},
	"subprocess.check_output": {kind: doesRun}, "subprocess.Popen": {kind: doesRun}, "pty.spawn": {kind: doesRun},
	"asyncio.create_subprocess_exec": {kind: doesRunRest}, "asyncio.subprocess.create_subprocess_exec": {kind: doesRunRest},

	"os.execv": {kind: doesRunPath}, "os.execve": {kind: doesRunPath}, "os.execvp": {kind: doesRunPath}, "os.execvpe": {kind: doesRunPath},
	"os.posix_spawn": {kind: doesRunPath}, "os.posix_spawnp": {kind: doesRunPath},
	"os.spawnv": {kind: doesRunPath, skip: 1}, "os.spawnve": {kind: doesRunPath, skip: 1}, "os.spawnvp": {kind: doesRunPath, skip: 1}, "os.spawnvpe": {kind: doesRunPath, skip: 1},
	"os.execl": {kind: doesRunPathRest}, "os.execle": {kind: doesRunPathRest}, "os.execlp": {kind: doesRunPathRest}, "os.execlpe": {kind: doesRunPathRest},
	"os.spawnl": {kind: doesRunPathRest, skip: 1}, "os.spawnle": {kind: doesRunPathRest, skip: 1}, "os.spawnlp": {kind: doesRunPathRest, skip: 1}, "os.spawnlpe": {kind: doesRunPathRest, skip: 1},

	"exec": {kind: doesExecCode}, "eval": {kind: doesExecCode}, "compile": {kind: doesCompileCode},
	"timeit.timeit": {kind: doesExecCode}, "cProfile.run": {kind: doesExecCode}, "pdb.run": {kind: doesExecCode},
	"execfile": {kind: doesHidesCode}, "runpy.run_path": {kind: doesHidesCode}, "runpy.run_module": {kind: doesHidesCode},
	"code.interact": {kind: doesHidesCode}, "code.InteractiveInterpreter": {kind: doesHidesCode}, "code.InteractiveConsole": {kind: doesHidesCode},
	"types.FunctionType": {kind: doesHidesCode}, "types.CodeType": {kind: doesHidesCode}, "os.fork": {kind: doesNothing},
	"marshal.loads": {kind: doesHidesCode}, "marshal.load": {kind: doesHidesCode}, "pickle.loads": {kind: doesHidesCode}, "pickle.load": {kind: doesHidesCode},
	"pickle.Unpickler": {kind: doesHidesCode}, "cPickle.loads": {kind: doesHidesCode}, "_pickle.loads": {kind: doesHidesCode}, "dill.loads": {kind: doesHidesCode}, "dill.load": {kind: doesHidesCode},
	"cloudpickle.loads": {kind: doesHidesCode}, "cloudpickle.load": {kind: doesHidesCode}, "yaml.unsafe_load": {kind: doesHidesCode}, "pandas.read_pickle": {kind: doesHidesCode}, "jsonpickle.decode": {kind: doesHidesCode},
	"sys.settrace": {kind: doesHidesCode}, "gc.get_objects": {kind: doesHidesCode}, "sys._getframe": {kind: doesHidesCode}, "inspect.currentframe": {kind: doesHidesCode},

	"__import__": {kind: doesImportNamed}, "importlib.import_module": {kind: doesImportNamed}, "importlib.__import__": {kind: doesImportNamed},
	"imp.load_source": {kind: doesHidesImport}, "importlib.util.spec_from_file_location": {kind: doesHidesImport}, "importlib.machinery.SourceFileLoader": {kind: doesHidesImport},
	"zipimport.zipimporter": {kind: doesHidesImport}, "pkgutil.get_loader": {kind: doesHidesImport}, "importlib.reload": {kind: doesHidesImport},
	"getattr": {kind: doesGetAttribute}, "globals": {kind: doesNamespace}, "locals": {kind: doesNamespace}, "vars": {kind: doesNamespace},

	"open": {kind: doesOpenFile}, "io.open": {kind: doesOpenFile}, "codecs.open": {kind: doesOpenFile}, "os.open": {kind: doesOpenFile}, "os.fdopen": {kind: doesNothing},
	"gzip.open": {kind: doesOpenFile}, "bz2.open": {kind: doesOpenFile}, "lzma.open": {kind: doesOpenFile}, "tarfile.open": {kind: doesOpenFile}, "zipfile.ZipFile": {kind: doesOpenFile}, "aiofiles.open": {kind: doesOpenFile},

	"os.listdir": reads("path"), "os.scandir": reads("path"), "os.walk": reads("top"), "os.stat": reads("path"), "os.lstat": reads("path"), "os.readlink": reads("path"), "os.access": reads("path"),
	"os.path.exists": reads("path"), "os.path.isfile": reads("path"), "os.path.isdir": reads("s"), "os.path.getsize": reads("filename"), "os.path.getmtime": reads("filename"),
	"glob.glob": reads("pathname"), "glob.iglob": reads("pathname"), "pandas.read_csv": reads("filepath_or_buffer"), "pandas.read_excel": reads("io"), "pandas.read_json": reads(""), "pandas.read_parquet": reads("path"),
	"linecache.getline": reads("filename"), "linecache.getlines": reads("filename"), "fileinput.input": reads("files"), "numpy.load": reads("file"), "numpy.loadtxt": reads("fname"), "dotenv.load_dotenv": reads("dotenv_path"), "dotenv.dotenv_values": reads("dotenv_path"),

	"os.remove": writes("path"), "os.unlink": writes("path"), "os.rmdir": writes("path"), "os.removedirs": writes("name"), "os.mkdir": writes("path"), "os.makedirs": writes("name"),
	"os.chmod": writes("path"), "os.lchmod": writes("path"), "os.chown": writes("path"), "os.lchown": writes("path"), "os.truncate": writes("path"), "os.utime": writes("path"), "os.mkfifo": writes("path"), "os.mknod": writes("path"), "os.setxattr": writes("path"), "os.chroot": writes("path"),
	"shutil.rmtree": writes("path"), "shutil.chown": writes("path"), "send2trash.send2trash": writes(""), "shutil.make_archive": writes("base_name"), "numpy.save": writes("file"), "numpy.savetxt": writes("fname"),
	"shutil.copy": {kind: doesCopies}, "shutil.copy2": {kind: doesCopies}, "shutil.copyfile": {kind: doesCopies}, "shutil.copytree": {kind: doesCopies}, "shutil.copymode": {kind: doesCopies}, "shutil.copystat": {kind: doesCopies}, "os.link": {kind: doesCopies}, "os.symlink": {kind: doesCopies}, "shutil.unpack_archive": {kind: doesCopies},
	"os.rename": {kind: doesMoves}, "os.renames": {kind: doesMoves}, "os.replace": {kind: doesMoves}, "shutil.move": {kind: doesMoves},

	"os.getenv": {kind: doesGetenv}, "os.getenvb": {kind: doesGetenv}, "os.environ.get": {kind: doesGetenv}, "os.environb.get": {kind: doesGetenv}, "os.environ.pop": {kind: doesGetenv}, "os.environ.setdefault": {kind: doesGetenv}, "os.environ.__getitem__": {kind: doesGetenv}, "os.unsetenv": {kind: doesNothing},
	"os.environ.copy": {kind: doesEnviron}, "os.environ.items": {kind: doesEnvironAll}, "os.environ.values": {kind: doesEnvironAll}, "os.environ.keys": {kind: doesEnvironAll}, "os.environ.__repr__": {kind: doesEnvironAll}, "os.environ.__str__": {kind: doesEnvironAll},
	"os.putenv": {kind: doesEnvironSet}, "os.environ.update": {kind: doesEnvironSet}, "os.environ.__setitem__": {kind: doesEnvironSet}, "copy.copy": {kind: doesPureText}, "copy.deepcopy": {kind: doesPureText},

	"pathlib.Path": {kind: doesMakePath}, "pathlib.PurePath": {kind: doesMakePath}, "pathlib.PosixPath": {kind: doesMakePath}, "pathlib.PurePosixPath": {kind: doesMakePath},
	"os.path.join": {kind: doesJoin}, "os.path.expanduser": {kind: doesExpandUser}, "os.path.expandvars": {kind: doesExpandUser},
	"os.path.abspath": {kind: doesSamePath}, "os.path.realpath": {kind: doesSamePath}, "os.path.normpath": {kind: doesSamePath}, "os.fspath": {kind: doesSamePath}, "os.fsencode": {kind: doesSamePath}, "os.fsdecode": {kind: doesSamePath},
	"os.getcwd": {kind: doesWorkdir}, "pathlib.Path.cwd": {kind: doesWorkdir}, "pathlib.Path.home": {kind: doesHome}, "os.chdir": {kind: doesChdir},

	"base64.b64decode": {kind: doesDecode, name: "base64"}, "base64.standard_b64decode": {kind: doesDecode, name: "base64"}, "base64.urlsafe_b64decode": {kind: doesDecode, name: "base64"}, "base64.decodebytes": {kind: doesDecode, name: "base64"}, "base64.decodestring": {kind: doesDecode, name: "base64"},
	"base64.b32decode": {kind: doesDecode, name: "base32"}, "base64.b16decode": {kind: doesDecode, name: "hex"}, "base64.b85decode": {kind: doesDecode, name: "?"}, "base64.a85decode": {kind: doesDecode, name: "?"},
	"binascii.unhexlify": {kind: doesDecode, name: "hex"}, "binascii.a2b_hex": {kind: doesDecode, name: "hex"}, "binascii.a2b_base64": {kind: doesDecode, name: "base64"}, "binascii.a2b_uu": {kind: doesDecode, name: "?"},
	"bytes.fromhex": {kind: doesDecode, name: "hex"}, "bytearray.fromhex": {kind: doesDecode, name: "hex"}, "codecs.decode": {kind: doesDecode}, "codecs.encode": {kind: doesDecode},
	"zlib.decompress": {kind: doesDecode, name: "zlib"}, "gzip.decompress": {kind: doesDecode, name: "gzip"}, "bz2.decompress": {kind: doesDecode, name: "bz2"}, "lzma.decompress": {kind: doesDecode, name: "?"}, "urllib.parse.unquote": {kind: doesDecode, name: "percent"}, "html.unescape": {kind: doesDecode, name: "?"},
	"chr": {kind: doesCharacter}, "str": {kind: doesMakeText}, "bytes": {kind: doesMakeText}, "bytearray": {kind: doesMakeText}, "repr": {kind: doesMakeText}, "format": {kind: doesMakeText}, "ascii": {kind: doesMakeText},
	"list": {kind: doesMakeList}, "tuple": {kind: doesMakeList}, "set": {kind: doesMakeList}, "sorted": {kind: doesMakeList}, "iter": {kind: doesMakeList}, "next": {kind: doesMakeList}, "map": {kind: doesMap}, "reversed": {kind: doesReversed},
	"shlex.join": {kind: doesJoinWords}, "subprocess.list2cmdline": {kind: doesJoinWords}, "shlex.quote": {kind: doesQuote}, "pipes.quote": {kind: doesQuote}, "shlex.split": {kind: doesSplitWords},
	"textwrap.dedent": {kind: doesPureText}, "inspect.cleandoc": {kind: doesPureText}, "io.StringIO": {kind: doesPureText}, "memoryview": {kind: doesPureText}, "typing.cast": {kind: doesNothing},
}

func reads(name string) behaviour  { return behaviour{kind: doesReads, args: []int{0}, name: name} }
func writes(name string) behaviour { return behaviour{kind: doesWrites, args: []int{0}, name: name} }

// dangerousModules are those that can run anything by a name that is computed.
var dangerousModules = map[string]bool{
	"os": true, "posix": true, "subprocess": true, "builtins": true, "__builtins__": true, "importlib": true, "ctypes": true,
	"pty": true, "commands": true, "sys.modules": true, "asyncio.subprocess": true, "shutil": true, "runpy": true, "code": true, "globals()": true, "locals()": true,
}

// dangerous says whether whoever has what a name stands for can run anything.
func dangerous(name string) bool {
	d := behaviours[name]
	return d.kind >= doesShellText && d.kind <= doesNamespace || dangerousModules[name] || strings.HasPrefix(name, "ctypes.")
}

// effective says whether calls of a name do something that counts.
func effective(name string) bool {
	_, known := behaviours[name]
	return known
}

// revealing are the attributes by which a program reaches what it did not import.
var revealing = map[string]bool{
	"__subclasses__": true, "__globals__": true, "__builtins__": true, "__code__": true, "__getattribute__": true, "__mro__": true, "__bases__": true,
	"f_globals": true, "f_locals": true, "f_builtins": true, "gi_frame": true, "tb_frame": true, "cr_frame": true, "__loader__": true, "__reduce__": true, "load_module": true, "exec_module": true, "func_globals": true,
}

// behaviourOfModule is what calls do that only their module tells of.
func behaviourOfModule(name string) behaviour {
	if strings.HasPrefix(name, "ctypes.") || strings.HasPrefix(name, "cffi.") {
		return behaviour{kind: doesHidesCode}
	}
	return behaviour{}
}
