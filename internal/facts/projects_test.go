package facts

import (
	"strings"
	"testing"
)

// Tests in languages that are not read run as much as any other program.
func TestTestsInLanguagesThatAreNotReadHideWhatTheyDoWhileTheyAreYoung(t *testing.T) {
	t.Parallel()
	young := func(file string) Contents { return Contents{"/w/" + file: recent("run(x)")} }
	old := func(file string) Contents { return Contents{"/w/" + file: settled("run(x)")} }
	foundCases(t, map[string]foundCase{
		"a test of Node's own":       {"node --test", young("a/b.test.js"), "", false},
		"one in a folder of tests":   {"node --test", young("test/b.mjs"), "", false},
		"an old one":                 {"node --test", old("b.test.js"), "", true},
		"Node without tests":         {"node --version", young("b.test.js"), "", true},
		"a test of jest":             {"npx jest", young("src/b.test.tsx"), "", false},
		"an old test of jest":        {"npx jest", old("src/b.test.tsx"), "", true},
		"one that a pattern chooses": {"npx jest users", young("src/users.test.js"), "", false},
		"one by its file":            {"npx jest src/b.test.js", young("src/b.test.js"), "", false},
		"another file than is named": {"npx jest src/c.test.js", young("src/b.test.js"), "", true},
		"no test of jest":            {"npx jest", young("src/b.js"), "", true},
		"a snapshot":                 {"npx jest", young("src/__snapshots__/b.test.js.snap"), "", true},
		"by a script of the project": {"npm test",
			Contents{"/w/package.json": settled(`{"scripts": {"test": "vitest run"}}`), "/w/b.spec.ts": recent("run(x)")}, "", false},
		"a test of another runtime":    {"bun test", young("b.test.ts"), "", false},
		"another word of the runtime":  {"bun install", young("b.test.ts"), "", true},
		"a test of Ruby":               {"bundle exec rspec", young("spec/b_spec.rb"), "", false},
		"settings of Ruby's tests":     {"rspec", Contents{"/w/.rspec": recent("--require spec_helper\n--color\n")}, "", true},
		"a file among those settings":  {"rspec", Contents{"/w/.rspec": recent("--require ./x\n")}, "", false},
		"a test of PHP":                {"vendor/bin/phpunit", young("tests/BTest.php"), "", false},
		"tests of Elixir":              {"mix test", young("test/b_test.exs"), "", false},
		"Elixir without tests":         {"mix compile", young("test/b_test.exs"), "", true},
		"files of tests by a pattern":  {"npx jest src/*.test.js", young("src/b.test.js"), "", false},
		"old ones by a pattern":        {"npx jest src/*.test.js", old("src/b.test.js"), "", true},
		"tests of Node's by a pattern": {"node --test t/*.js", young("t/b.js"), "", false},
		"a folder of Node's tests":     {"node --test test/", young("test/b.js"), "", false},
		"an old folder":                {"node --test test/", old("test/b.js"), "", true},
		"names that may be options":    {"node --test *.js", old("b.js"), "", false},
		"a pattern without tests":      {"node t/*.js", old("t/b.js"), "", false},
		"too many tests":               {"npx jest", Contents{"/w/**/*.test.[jt]s": {Recent: true}}, "", false},
	})
}

func TestSourcesThatAreCompiledAndRunAtOnceHideWhatTheyDoWhileTheyAreYoung(t *testing.T) {
	t.Parallel()
	young := func(file string) Contents { return Contents{"/w/" + file: recent("x()")} }
	old := func(file string) Contents { return Contents{"/w/" + file: settled("x()")} }
	foundCases(t, map[string]foundCase{
		"a file of Go":               {"go run a.go", young("a.go"), "", false},
		"an old file of Go":          {"go run a.go", old("a.go"), "", true},
		"a package of Go":            {"go run .", young("b/a.go"), "", false},
		"a package elsewhere":        {"go -C b run .", young("b/a.go"), "", false},
		"a test beside it":           {"go run .", young("a_test.go"), "", true},
		"a package that is built":    {"go build .", young("a.go"), "", true},
		"a crate":                    {"cargo run --release", young("src/main.rs"), "", false},
		"an old crate":               {"cargo run", old("src/main.rs"), "", true},
		"a crate that is tested":     {"cargo test", young("src/main.rs"), "", true},
		"a file of Java":             {"java A.java", young("A.java"), "", false},
		"an old file of Java":        {"java A.java", old("A.java"), "", true},
		"a class of Java":            {"java -cp . A", young("A.java"), "", true},
		"a project of .NET":          {"dotnet run", young("P.cs"), "", false},
		"a project of .NET is built": {"dotnet build", young("P.cs"), "", true},
		"a file of Swift":            {"swift a.swift", young("a.swift"), "", false},
	})
}

func TestFilesOfBuildersAreReadAsFarAsTheyOnlyNameValues(t *testing.T) {
	t.Parallel()
	file := func(name, text string) Contents { return Contents{"/w/" + name: recent(text)} }
	const pom = "<?xml version=\"1.0\"?>\n<project>\n  <modelVersion>4.0.0</modelVersion>\n  <dependencies>\n    <dependency>\n" +
		"      <groupId>junit</groupId>\n    </dependency>\n  </dependencies>\n"
	const gems = "source 'https://rubygems.org'\n\nruby '3.3'\n" +
		"gem 'rails', '~> 7.1', require: false\ngroup :test do\n  gem \"rspec\"\nend\n"
	foundCases(t, map[string]foundCase{
		"a plain list of Maven's": {"mvn -q test", file("pom.xml", pom+"</project>\n"), "", true},
		"one with a plug-in": {"mvn test",
			file("pom.xml", pom+"<build><plugins><plugin/></plugins></build>\n</project>"), "", false},
		"one of a module":               {"./mvnw test", file("m/pom.xml", "<build/>"), "", false},
		"an old list of Maven's":        {"mvn test", Contents{"/w/pom.xml": settled("<build/>")}, "", true},
		"a plain list of gems":          {"bundle install", file("Gemfile", gems), "", true},
		"one that runs more":            {"bundle install", file("Gemfile", gems+"system('ls')\n"), "", false},
		"one with a text put together":  {"bundle install", file("Gemfile", "gem \"#{x}\"\n"), "", false},
		"one with a folder":             {"bundle install", file("Gemfile", "gem 'x', path: './x'\n"), "", false},
		"the same before a program":     {"bundle exec rake", file("Gemfile", "eval x\n"), "", false},
		"an old list of gems":           {"bundle install", Contents{"/w/Gemfile": settled("eval x")}, "", true},
		"nothing is run for a version":  {"bundle --version", file("Gemfile", "eval x\n"), "", true},
		"what a builder of zig's holds": {"zig build", file("build.zig", "x"), "", false},
	})
}

func TestFilesOfFoldersThatAreInstalledAreRead(t *testing.T) {
	t.Parallel()
	const removal = "rm -rf ~"
	setup := recent("import os\nos.system('" + removal + "')")
	listed := func(line string) Contents {
		return Contents{"/w/r.txt": settled("numpy==2.1\n" + line + "\n"), "/w/d/setup.py": setup}
	}
	foundCases(t, map[string]foundCase{
		"a folder":                  {"pip install ./d", Contents{"/w/d/setup.py": setup}, removal, true},
		"a folder that is edited":   {"pip3 install -e ./d", Contents{"/w/d/setup.py": setup}, removal, true},
		"the same by Python":        {"python3 -m pip install --editable=./d", Contents{"/w/d/setup.py": setup}, removal, true},
		"a package of that name":    {"pip install d", Contents{"/w/d/setup.py": setup}, "", true},
		"a folder of a list":        {"pip install -r r.txt", listed("./d"), removal, true},
		"one that is edited":        {"pip install -r r.txt", listed("-e ./d  # here"), removal, true},
		"one by its address":        {"pip install -r r.txt", listed("x @ file:///w/d"), removal, true},
		"packages of a list":        {"pip install -r r.txt", listed("d"), "", true},
		"a list that is not there":  {"pip install -r r.txt", Contents{}, "", true},
		"a list that is only named": {"pip download -r r.txt", listed("./d"), "", true},
	})
}

func TestCommandsOfRulesAndOfPackagesAreRead(t *testing.T) {
	t.Parallel()
	const removal = "rm -rf ~"
	file := func(name, text string) Contents { return Contents{"/w/" + name: recent(text)} }
	composer := func(scripts string) Contents { return file("composer.json", `{"scripts": {`+scripts+`}}`) }
	foundCases(t, map[string]foundCase{
		"a rule of ninja's": {"ninja", file("build.ninja", "rule a\n  command = "+removal+"\nbuild x: a\n"), removal, true},
		"an old rule of ninja's": {"ninja",
			Contents{"/w/build.ninja": settled("rule a\n  command = " + removal + "\n")}, removal, true},
		"a rule in another folder": {"ninja -C b", file("b/build.ninja", "rule a\n  command = "+removal+"\n"), removal, true},
		"a rule of another file":   {"ninja -f x", file("x", "rule a\n  command = "+removal+"\n"), removal, true},
		"a compiler": {"ninja",
			file("build.ninja", "cflags = -O2\nrule a\n  command = gcc $cflags -c $in -o $out\n"), "", true},
		"a command in a variable": {"ninja", file("build.ninja", "x = "+removal+"\nrule a\n  command = $x\n"), removal, true},
		"the command of a target": {"ninja",
			file("build.ninja", "rule a\n  command = $c\nbuild x: a\n  c = ls\nbuild y: a\n  c = "+removal+"\n"), removal, true},
		"a command among values": {"ninja",
			file("build.ninja", "x = ; "+removal+"\ny = a\nrule a\n  command = cc $x\n"), removal, true},
		"a command among several values": {"ninja", file("build.ninja",
			"rule a\n  command = cc $x\nbuild x: a\n  x = -O2\nbuild y: a\n  x = -O3; "+removal+"\n"), removal, true},
		"a line that goes on": {"ninja", file("build.ninja", "rule a\n  command = rm $\n    -rf ~\n"), removal, true},
		"a rule that is included": {"ninja",
			Contents{"/w/build.ninja": settled("include r.ninja\n"),
				"/w/r.ninja": recent("rule a\n  command = " + removal + "\n")}, removal, true},
		"a file that includes itself": {"ninja", file("build.ninja", "include build.ninja\nrule a\n  command = ls\n"), "", true},
		"what a target's files do":    {"ninja", file("build.ninja", "rule a\n  command = $in\n"), "", false},
		"rules that are too many":     {"ninja", Contents{"/w/build.ninja": {Recent: true}}, "", false},
		"old rules that are too many": {"ninja", Contents{"/w/build.ninja": {}}, "", true},
		"a script that node runs":     {"node --run x", file("package.json", `{"scripts": {"x": "`+removal+`"}}`), removal, true},
		"another one":                 {"node --run=y", file("package.json", `{"scripts": {"x": "`+removal+`", "y": "ls"}}`), "", true},
		"a reporter that node loads":  {"node --test-reporter=./r.js --test", file("r.js", "run(x)\n"), "", false},
		"a script after installing": {"composer install",
			composer(`"post-install-cmd": ["@php artisan x", "` + removal + `"]`), removal, true},
		"one that composer does not run": {"composer install", composer(`"deploy": "` + removal + `"`), "", true},
		"one by its name":                {"composer run deploy", composer(`"deploy": "` + removal + `"`), removal, true},
		"one that another one runs":      {"composer test", composer(`"test": ["@all"], "all": "` + removal + `"`), removal, true},
		"a function of the project":      {"composer install", composer(`"post-install-cmd": "A\\B::c"`), "", true},
		"an old script": {"composer install",
			Contents{"/w/composer.json": settled(`{"scripts": {"post-install-cmd": "eval $X"}}`)}, "", true},
	})
}

// Each value stands for many others: spelt out they would be more than any machine writes.
func TestValuesThatGrowAreNotSpeltOut(t *testing.T) {
	t.Parallel()
	grown := func(reference, last string) (text string) {
		for _, pair := range []string{"AB", "BC", "CD", "DE", "EF"} {
			text += pair[:1] + " = " + strings.Repeat(strings.Replace(reference, "X", pair[1:], 1), 200) + "\n"
		}
		return text + "F =\n" + last
	}
	for command, files := range map[string]Contents{
		"ninja": {"/w/build.ninja": recent(grown("$X ", "rule r\n  command = $A\n"))},
		"make":  {"/w/Makefile": recent(grown("$(X)", "all:\n\techo $(A)\n"))},
	} {
		if c := Shell(command, Place{Workdir: "/w", Home: "/home/a", Contents: &files}); c.Complete {
			t.Errorf("%s is complete", command)
		}
	}
}
