package oneliner

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// harmless are programs that the readers know, with the files that they name: "<" is read, ">" written, "+" loaded.
var harmless = map[string][][]string{
	"node": {
		{`console.log("ok")`},
		{`JSON.parse(process.argv[1]).foo`},
		{`const fs=require("fs"); console.log(JSON.parse(fs.readFileSync("a.json","utf8")).version)`, "<a.json"},
		{"require('node:fs').writeFileSync('out.txt', `a ${1+1} b`)", ">out.txt"},
		{`const d = [3,1,2]; for (let i = 0; i < d.length; i++) { console.log(d[i], d[i+1], d[d.length-1]) }`},
		{`let s=0; process.stdin.on("data", c => { s += c.length }); process.stdin.on("end", () => console.log(s))`},
		{`"a/b".split(/[/]/).map(x => x.toUpperCase()).join(", ") // a comment`},
		{`const {a, b} = JSON.parse('{"a":1,"b":2}'); console.log(a/b, {a, sum: a + b, "x-y": 1})`},
		{`require("./package.json").version`, "<./package.json"},
		{`function f(n) { return n < 2 ? n : f(n-1) + f(n-2) } console.log(f(20))`},
		{`console.log(require("crypto").createHash("sha256").update("x").digest("hex"))`},
		{"import { add, sub as minus } from './sum.js'\nconsole.log(add(1, minus(2, 1)))", "+./sum.js"},
		{"import './a'\nimport * as b from '../b.mjs'\nimport c, { d } from './c'\nb.f(c, d)", "+./a", "+../b.mjs", "+./c"},
		{"import fs from 'node:fs'\nimport { join } from 'path'\nconsole.log(fs.readFileSync('a', 'utf8'), join('a', 'b'))", "<a"},
		{"const { add } = require('./sum'), x = 1;\ntest('adds', () => { expect(add(1, x)).toBe(2) })", "+./sum"},
		{"import test from './t.js'\nimport { describe, it } from 'node:test'\nimport assert from 'node:assert/strict'\n" +
			"describe('a', () => { it.skip('b', () => assert.equal(test(1), 2)) })", "+./t.js"},
		{"const { test } = require('node:test')\nconst assert = require('assert')\ntest('a', async () => { assert.ok(await 1) })"},
		{"let test = 1; for (const it of [2]) { test += it } console.log(test, it)"},
		{"export const a = 1\nexport default function f(x) { return x + a }\nexport async function g() { return 1 }"},
		{"function f(x) { return x }\nmodule.exports = { f, g: 1 }\nmodule.exports.h = f\nexports.i = f"},
		{`try { JSON.parse("{") } catch (e) { console.error(e.message); process.exit(1) }`},
	},
	"awk": {
		{`{print $1}`}, {`NR>1 && $3<=2 {gsub(/^"|"$/, "", $4); print $1 " [" $3 "] - " $4}`},
		{`{n++; s+=$i/2} END{printf "%s|%d\n", s/n, n}`},
		{"# a | comment\n$1 > 3 {\n  print $1 / 2, $2 / 3\n}\n/a|b/ {x++}"}, {`$0 ~ /x\/y|z/ {print "a | b"}`}, {`{print > "out.txt"}`},
	},
	"lua": {
		{`print("Hello")`},
		{`local f=io.open("in.txt", "rb"); io.write(f:read("*a")); io.close(f);`, "<in.txt"},
		{`for l in io.lines("x.txt") do print(#l) end`, "<x.txt"},
		{`print([[os.remove("a")]], [==[ ]] ]==])`},
		{`local function f(a, b) return a .. b end print(f("x", 1), string.format("%d", 3), ("x"):rep(3)) -- done`},
		{`local o = io.open("o", "w") o:write("x") o:close()`, ">o"},
	},
	"perl": {
		{`print if /c|d|z/`}, {`$sum+=$F[1];END{print "$sum\n"}`}, {`print $1 if m/\.([^.\/]+)$/`}, {`chomp; print "$_ "`},
		{`print join(" ", reverse(@F))`}, {`s/(\d+)/$1*2/ge; print`},
		{`my %c; $c{$_}++ for split //; print map {"$_ $c{$_}\n"} sort keys %c`},
		{`use MIME::Base64;print(encode_base64('Hello'));`}, {`open(F,"<","a.txt"); while(<F>){ print }`, "<a.txt"},
		{`open(my $f, ">", "b.txt") or die "no: $!"; print $f "x"; close $f`, ">b.txt"},
		{`use List::Util qw(sum); print sum(1..10), "\n"`}, {`print "-"x20, "\n" # a line`}, {`y/a-z/A-Z/; print`},
		{`printf "%.2f\n", 22/7`}, {`$SIG{INT} = "IGNORE"; $SIG{PIPE} = 'DEFAULT'; print 1`},
		{`print qq(a $x b), q{c}, "\n"`}, {`print $h->{a}[0], $#F, scalar(@F)`},
	},
	"php": {
		{`echo array_sum(explode(PHP_EOL, stream_get_contents(STDIN)));`}, {`echo PHP_VERSION;`},
		{`$d=json_decode(file_get_contents("composer.json")); echo $d->name, "\n"; // name`, "<composer.json"},
		{`foreach (file("a.txt", FILE_IGNORE_NEW_LINES) as $i => $l) { printf("%d %s\n", $i, strtoupper($l)); }`, "<a.txt"},
		{`file_put_contents("o.txt", "x $d[0]");`, ">o.txt"}, {`echo json_encode(["a" => 1, 'b' => [1,2]], JSON_PRETTY_PRINT);`},
		{`$f = fopen("php://stdin", "r"); while (($l = fgets($f)) !== false) echo strlen($l);`},
		{`$o = fopen("o.csv", "w"); fputcsv($o, [1,2]); fclose($o);`, ">o.csv"},
	},
}

// ends start a program behind another text.
var ends = map[string]string{
	"awk":  "\n{ system(\"id\") }",
	"node": "\n;child_process.execSync('id')", "lua": "\n;os.execute('id')", "perl": "\n;system('id')", "php": "\n;system('id');",
}

// unread are programs of which a part is not on the list.
var unread = map[string][]string{
	"node": {
		`require("child_process").execSync("id")`, `child_process.execSync("id")`, `eval("1")`, `Function("return 1")()`,
		`[]["filter"]["constr"+"uctor"]("x")()`, `[].filter.constructor("x")()`, `const k="constructor"; [][k]`, `fetch("http://x")`,
		`require(process.argv[1])`, `import("fs")`, `process.mainModule.require("x")`, `fs.rmSync("a")`, `process.env.HOME`,
		`const {constructor: f} = () => 1; f("x")()`, `let i = 0; [i] = ["constructor"]; (()=>1)[i]`,
		`let i = 0; (i) = "constructor"; f[i]`,
		`let of = 1; of /"/ 1; foo("; process.kill(1); "`, `x.of /"/ 1; foo("; process.kill(1); "`, "if (1) /\"/.test(f(\"`\")",
		`fs.readFileSync(name)`, `fs.readFileSync("a" + b)`, `var fs = require("fs"); fs = 1; fs.writeFileSync("a" + 1)`,
		`"\u0063"["\x63onstructor"]`,
		`this.constructor`, `globalThis.process`, `/* x */ 1`, `with (process) kill(1)`, `new Worker("x")`, `process.kill(1)`,
		`let i=0; ({f(i){return [][i]}}).f("constructor")`, "`${process.kill(1)}`", `setTimeout` + "\r" + `eval(1)`,
		`//` + "\u2028" + `eval(1)`,
		"import { execSync } from 'child_process'\nexecSync('id')", "import cp from 'child_process'", "import x from 'lodash'\nx()",
		"import { writeFileSync } from 'fs'\nwriteFileSync('a', 'b')", "import { run } from 'node:test'\nrun({files: ['a']})",
		"import { test as run } from 'node:test'", "import { test } from 'node:test'\ntest.run({files: ['a']})",
		"const { run } = require('node:test')\nrun({})", "const t = require('node:test')\nt.run({})", "const x = test\nx.run({})",
		"import * as v from 'vitest'\nv.vi.importActual('child_process')", "jest.requireActual('child_process')",
		"vi.importActual('child_process')", "import process from './a.js'", "import { eval as e } from './a.js'\nimport eval from './b.js'",
		"import x from './a.node'", "const y = require('./a.wasm')", "import x from 'https://a.b/c.js'", "export * from 'child_process'",
		"module.constructor", "module.children[0]", "const m = module", "require.main", "expect(1).toMatchFileSnapshot('/a')",
		"import { x } from './a.js' with { type: 'json' }", "import {\"a\" as b} from './c.js'", "1; import.meta.url", "import('./a.js')",
		"export { a } from './b.js'", "class A extends B {}",
		`let a = []; a[a.x]`, `a?.["con"+"s"]`, `[["constructor"][0]]: 1`, `const {[x]: y} = {}`, `os.setPriority(1)`, `a`,
	},
	"awk": {
		`{system("id")}`, `BEGIN{"id" | getline x}`, `{print | "sh"}`, `BEGIN{c="sh"; print "id" | c}`, `{print |& "sh"}`,
		`@load "x"`, `{@f("id")}`,
		`{x = /[/]"/; print | "sh" #"/}`, `{getline < "x"}`, `"a`, `{print (1) /"/; print | "sh"; "/ 2}`,
		`/a/system("id")`,
	},
	"lua": {
		`os.execute("id")`, `io.popen("id")`, `load("x")()`, `require("socket")`, `_G["os"]["execute"]("id")`, `os["execute"]("id")`,
		`local o = os o.execute("id")`, `dofile("x")`, `--[[ x ]] os.execute("id")`, `os.remove("a")`, `io.open(name)`,
		`io.open("a", "r+")`,
		`for k, v in pairs(os) do print(k, v) end`, `print(os.getenv("TOKEN"))`, `debug.getregistry()`, `x = [[`, `local load = load`,
		`string.dump(f)`, `package.loadlib("a", "b")`,
	},
	"perl": {
		"print `id`", `system("id")`, `exec "id"`, `eval "x"`, `do "x.pl"`, `require "x"`, `print qx(id)`, `open(F, "id|")`,
		`open(F, "-|", "id")`,
		`open(F, "<", $x)`, `"@{[system 'id']}"`, `"${\ system 'id'}"`, `"$x[system 'id']"`, `s/a/system("id")/e`, `s/a/b/ee`,
		`/(?{system "id"})/`,
		`&{"system"}("id")`, `$f->("id")`, `unlink "a"`, `print $ENV{TOKEN}`, `@ARGV = ("id|"); while (<>) {}`,
		`local @ARGV = "id|"; print <>`,
		`use Socket; 1`, `use lib "x"`, `sub f { 1 }`, `*ARGV = ["id|"]`, `print <<"E"; x`, `$a'b; system("id"); $c'd`,
		`print $x /"/; system("id"); "/`,
		`print <'>; system("id"); <'>`, "=pod\nx", `$x[0]("a")`, `-e "a"`, `use POSIX; POSIX::system("id")`, `print <ARGV>`, `sort $f @x`,
		`kill 9, 1`, `fork`, `print m'x'`, `s{a} {b}`, `$s =~ s/x/y/z`, `"$$x"`, `"%ENV @ENV"`, `@INC = ()`, `chmod 0777, "a"`,
		`rename("a", "b")`, `$SIG{__DIE__} = "DynaLoader::dl_load_file"; die "./e.so\n"`, `$SIG{ALRM} = $x`, `%SIG = (INT => "f")`,
		`$s = \$SIG{INT}`, `print 1; @SIG{INT} = "f"`,
	},
	"php": {
		`system("id");`, "echo `id`;", `$f="system"; $f("id");`, `("sys"."tem")("id");`, `eval("x");`,
		`array_map("system", ["id"]);`, `include "x";`,
		`echo "${x}";`, `echo "{$f('id')}";`, `$x->{'f'}();`, `$x->f();`, `unlink("a");`, `file_get_contents("http://x");`,
		`file_get_contents($x);`,
		`echo getenv("A");`, `print_r($_SERVER);`, `new X();`, `\system("id");`, `echo <<<E`, `#[A] system("id");`, `// ?> x`,
		`usort($a, "system");`,
		`phpinfo();`, `file_put_contents("a".$b, "x");`, `$a[0]("id");`, `fopen("a", "r+");`, `assert("system('id')");`, `F::g();`,
	},
}

func TestListedProgramsAreReadWithTheirFiles(t *testing.T) {
	for language, programs := range harmless {
		for _, p := range programs {
			e, ok := Read(language, p[0])
			if !ok {
				t.Errorf("%s: %s is not read", language, p[0])
				continue
			}
			var files []string
			for _, f := range e.Reads {
				files = append(files, "<"+f)
			}
			for _, f := range e.Writes {
				files = append(files, ">"+f)
			}
			for _, f := range e.Loads {
				files = append(files, "+"+f)
			}
			if !slices.Equal(files, p[1:]) {
				t.Errorf("%s: %s names %v, want %v", language, p[0], files, p[1:])
			}
		}
	}
}

func TestProgramsWithAPartThatIsNotListedAreNotRead(t *testing.T) {
	for language, programs := range unread {
		for _, p := range programs {
			if e, ok := Read(language, p); ok {
				t.Errorf("%s: %s is read as %+v", language, p, e)
			}
		}
	}
}

// What is added to a program that is not read makes it none that is: no quote or comment before a part hides it.
func TestNothingIsReadWhoseEndIsNot(t *testing.T) {
	for language, programs := range harmless {
		for _, p := range programs {
			if _, ok := Read(language, p[0]+ends[language]); ok {
				t.Errorf("%s: %s%s is read", language, p[0], ends[language])
			}
		}
	}
}

func TestOtherLanguagesAreNotRead(t *testing.T) {
	if _, ok := Read("tcl", "puts x"); ok {
		t.Error("a program of a language without a list is read")
	}
}

func TestReadingIsBounded(t *testing.T) {
	for language := range languages {
		for _, unit := range []string{"(", "[", "{", "a=", "\"#{", "`${", "s/a/", "print ", "x => ", "$a[", "m{", "[==[", "/",
			"'a',", "let i=0;"} {
			began := time.Now()
			Read(language, strings.Repeat(unit, maxCode/len(unit)))
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("%s: reading %q again and again took %v", language, unit, took)
			}
		}
	}
}

func fuzz(f *testing.F, language string) {
	for _, p := range harmless[language] {
		f.Add(p[0])
	}
	for _, p := range unread[language] {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, code string) {
		e, ok := Read(language, code)
		if !ok && (len(e.Reads)+len(e.Writes) > 0 || e.Operands) {
			t.Error("effects of a program that is not read")
		}
		if _, also := Read(language, code+ends[language]); ok && also {
			t.Errorf("%q is read with any end", code)
		}
	})
}

func FuzzAwk(f *testing.F) { fuzz(f, "awk") }

func FuzzJavaScript(f *testing.F) { fuzz(f, "node") }

func FuzzLua(f *testing.F) { fuzz(f, "lua") }

func FuzzPerl(f *testing.F) { fuzz(f, "perl") }

func FuzzPHP(f *testing.F) { fuzz(f, "php") }
