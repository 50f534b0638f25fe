package protected_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/secrets/protected"
)

// asUser runs a test once more as a user without root's rights, in whose way permissions stand, in
// a folder where root has prepared what the test needs.
func asUser(t *testing.T, prepare string) (isUser bool) {
	t.Helper()
	if os.Geteuid() != 0 {
		return true
	}
	dir := filepath.Join(scratch, t.Name())
	binary, err := os.ReadFile("/proc/self/exe")
	err = errors.Join(err, os.Chmod(scratch, 0o755), os.Mkdir(dir, 0o777), os.Chmod(dir, 0o777),
		os.WriteFile(filepath.Join(dir, "test"), binary, 0o755))
	if err != nil {
		t.Fatal(err)
	}
	sh(t, dir, prepare)
	cmd := exec.Command(filepath.Join(dir, "test"), "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+dir, "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("as a user: %v\n%s", err, out)
	}
	return false
}

func TestWhatACommandClosedIsOpenedAgain(t *testing.T) {
	if !asUser(t, "") {
		return
	}
	for name, script := range map[string]string{
		"the repository":                  `chmod 000 .git`,
		"the folder itself":               `chmod 000 .`,
		"the file":                        `chmod 000 .git/config`,
		"all of them":                     `chmod 000 .git/config .git; chmod 000 .`,
		"nothing may be written":          `chmod 555 .git; chmod 555 .`,
		"a repository below":              `chmod 000 mine/.git; chmod 000 mine`,
		"a new repository":                `mv mine deep; git init -q mine; echo "$evil" >> mine/.git/config; chmod 000 mine`,
		"hooks":                           `chmod 000 .git/hooks`,
		"moved away, and closed":          `mkdir x; mv .git x/g; chmod 000 x/g x`,
		"in the way of what is set aside": `cd .git; for i in "" -2 -3; do n=config.refused$i; mkdir $n; touch $n/f; chmod 555 $n; done`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			sh(t, dir, "cp -a "+model(t)+"/. .; chmod -R u+w .")
			var k protected.Keeper
			w := guard(t, &k, dir)
			sh(t, dir, shell+`printf '[core]\n\tfsmonitor = "touch PWNED;:"\n' | tee -a .git/config mine/.git/config >/dev/null; `+script)
			changes, err := w.End()
			if err != nil || len(changes) == 0 {
				t.Errorf("changes %v, %v", changes, err)
			}
			if text, err := os.ReadFile(filepath.Join(dir, ".git/config")); err != nil || strings.Contains(string(text), "fsmonitor") {
				t.Errorf("git's settings: %q, %v", text, err)
			}
			if runs(t, dir, "chmod -R u+rwX .; git status; cd mine; git status") {
				t.Error("a user's git status runs what was left")
			}
			if again, err := guard(t, &k, dir).End(); len(again) > 0 || err != nil {
				t.Errorf("the next command: %v, %v", again, err)
			}
		})
	}
}

// What others may not look into, git of the same user does not either, so that a command need not
// be refused for it.
func TestAFolderOfAnotherUserIsLetBe(t *testing.T) {
	const project = "project"
	if !asUser(t, `mkdir -p project/here project/sub/data; chmod 700 project/here project/sub/data
		chown 65534 project project/sub; chmod 0 project/sub`) {
		return
	}
	dir, err := filepath.Abs(project)
	if _, fault := os.Stat(dir); err != nil || fault != nil {
		if os.Getenv("CI")+os.Getenv("BAILIFF_REQUIRE_ALL") != "" {
			t.Fatal("only root can make a folder of another user's, and it is required here")
		}
		t.Skip("only root can make a folder of another user's")
	}
	var k protected.Keeper
	for range 2 {
		w := guard(t, &k, dir)
		sh(t, dir, "chmod 700 sub") // in it is one that was not seen at the beginning
		if changes, err := w.End(); len(changes) > 0 || err != nil {
			t.Errorf("changes %v, %v", changes, err)
		}
	}
}

// What cannot be put back is not forgotten: nothing is watched before it is.
func TestWhatCouldNotBePutBackIsNotForgotten(t *testing.T) {
	t.Parallel()
	ways := map[string]struct{ block, free, says string }{"a folder that is too deep": {
		`n=sub; for i in $(seq 130); do n=$n/d; done; mkdir -p $n; echo evil > .envrc`, `rm -r sub/d`, "128 folders deep"}}
	if exec.Command("sh", "-c", "touch "+scratch+"/f && chattr +i "+scratch+"/f && chattr -i "+scratch+"/f").Run() == nil {
		ways["a folder in which nothing can be renamed"] = struct{ block, free, says string }{
			`echo evil > .envrc; echo evil > sub/.npmrc; chattr +i sub`, "chattr -i sub", "sub/.npmrc is not as it was"}
	}
	for name, c := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := workplace(t)
			sh(t, dir, "mkdir sub")
			mounts := []bailiff.Mount{{Source: dir, Target: dir, Protected: []string{"sub/.npmrc", ".envrc", "**/.git"}}}
			var k protected.Keeper
			begin := func() *protected.Watch {
				w, err := k.Watch(mounts)
				if err != nil {
					t.Fatal(err)
				}
				return w
			}
			w := begin()
			sh(t, dir, c.block)
			t.Cleanup(func() { _ = exec.Command("chattr", "-i", filepath.Join(dir, "sub")).Run() })
			changes, err := w.End()
			if err == nil || !strings.Contains(err.Error(), c.says) || len(changes) != 1 || !strings.HasSuffix(changes[0].Path, ".envrc") {
				t.Errorf("changes %v, %v", changes, err)
			}
			for range 2 {
				if _, err := k.Watch(mounts); err == nil || !strings.Contains(err.Error(), "an earlier command changed them") {
					t.Errorf("the next command begins with %v", err)
				}
			}
			sh(t, dir, "echo later > sub/.npmrc 2>/dev/null || true; "+c.free)
			changes, err = begin().End()
			if err != nil || len(changes) != 1 || filepath.Base(changes[0].Kept) != ".npmrc.refused" {
				t.Errorf("once it can be put back: %v, %v", changes, err)
			}
			sh(t, dir, `test ! -e sub/.npmrc; echo mine > sub/.npmrc`)
			if changes, err := begin().End(); len(changes) > 0 || err != nil {
				t.Errorf("what the user writes then is put back: %v, %v", changes, err)
			}
		})
	}
}

func TestWhatStandsInTheWayIsNeverRemoved(t *testing.T) {
	t.Parallel()
	dir := workplace(t)
	sh(t, dir, `mkdir .mcp.json.refused; echo 1 > .mcp.json.refused/f; echo 2 > .mcp.json.refused-2`)
	var k protected.Keeper
	for i, script := range []string{`echo evil > .mcp.json`, `mkfifo .mcp.json`, `mkdir -p .mcp.json/x; chmod 000 .mcp.json`,
		`ln -s .mcp.json .mcp.json`, `ln -s /etc/passwd .mcp.json`, `ln .envrc .mcp.json`, `truncate -s 3G .mcp.json`} {
		w := guard(t, &k, dir)
		sh(t, dir, script)
		changes, err := w.End()
		if want := ".mcp.json.refused-" + string(rune('3'+i)); err != nil || len(changes) == 0 ||
			filepath.Base(changes[len(changes)-1].Kept) != want {
			t.Errorf("%s: %v, %v, want it as %s", script, changes, err, want)
		}
		if _, err := os.Lstat(filepath.Join(dir, ".mcp.json")); !os.IsNotExist(err) {
			t.Errorf("%s: it is left, %v", script, err)
		}
	}
	sh(t, dir, `test "$(cat .mcp.json.refused/f .mcp.json.refused-2 | tr -d '\n')" = 12; rm -f .mcp.json.refused*[!f] || true`)
}

func TestOfWhatIsSetAsideTheFirstAndTheLatestStay(t *testing.T) {
	t.Parallel()
	dir := workplace(t)
	sh(t, dir, `echo mine > .mcp.json.refused; mkdir .mcp.json.refused-20260101T000000.000000000-user`)
	var k protected.Keeper
	const rounds = 60
	var kept []string
	for n := range rounds {
		w := guard(t, &k, dir)
		if n%2 == 0 {
			sh(t, dir, fmt.Sprintf("mkdir -p .mcp.json/deep; echo %d > .mcp.json/deep/n", n))
		} else {
			sh(t, dir, fmt.Sprintf("echo %d > .mcp.json", n))
		}
		changes, err := w.End()
		if err != nil || len(changes) != 1 {
			t.Fatalf("changes %v, %v", changes, err)
		}
		kept = append(kept, changes[0].Kept)
	}
	for n, name := range kept {
		text, err := os.ReadFile(name)
		if n%2 == 0 {
			text, err = os.ReadFile(filepath.Join(name, "deep/n"))
		}
		stays := n%2 == 0 || n < 19 || n >= rounds-20 // folders; what the user has called so is the first of the 20
		if stays != (err == nil) || stays && strings.TrimSpace(string(text)) != fmt.Sprint(n) {
			t.Errorf("what came as number %d is %q, %v", n, text, err)
		}
	}
	if all, err := filepath.Glob(filepath.Join(dir, ".mcp.json.refused*")); err != nil || len(all) != 51 {
		t.Errorf("there are %d, %v: %v", len(all), err, all)
	}
	sh(t, dir, `test "$(cat .mcp.json.refused)" = mine`)
}

// A file that is mapped into memory changes without a new time.
func TestContentIsComparedAndNoTimes(t *testing.T) {
	t.Parallel()
	dir := workplace(t)
	name := filepath.Join(dir, ".envrc")
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var k protected.Keeper
	background := guard(t, &k, dir)
	text, err := syscall.Mmap(int(file.Fd()), 0, 1, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	text[0] = text[0] + 0 // as it was, with a new time
	if changes, err := guard(t, &k, dir).End(); len(changes) > 0 || err != nil {
		t.Errorf("the same content is put back: %v, %v", changes, err)
	}
	before, err := file.Stat()
	text[0] = 'E'
	after, fault := file.Stat()
	if err != nil || fault != nil || before.ModTime() != after.ModTime() {
		t.Logf("here a mapping gives new times: %v, %v", err, fault)
	}
	changes, err := background.End()
	if err != nil || len(changes) != 1 || changes[0].Path != name {
		t.Errorf("changes %v, %v", changes, err)
	}
	text[0] = 'X' // of what was set aside
	if got, err := os.ReadFile(name); err != nil || string(got) != "export A=1\n" {
		t.Errorf("the file holds %q, %v", got, err)
	}
	if err := syscall.Munmap(text); err != nil {
		t.Error(err)
	}
}

func TestAFurtherNameOfAProtectedFileIsParted(t *testing.T) {
	t.Parallel()
	dir := workplace(t)
	sh(t, dir, `ln .envrc mine/envrc`) // the user's own stays
	var k protected.Keeper
	w := guard(t, &k, dir)
	sh(t, dir, `ln .git/config mine/gc; ln mine/.git/config mine/mc`)
	changes, err := w.End()
	if err != nil || len(changes) != 2 || !strings.Contains(changes[0].String(), "had got a second name") {
		t.Errorf("changes %v, %v", changes, err)
	}
	w = guard(t, &k, dir)
	sh(t, dir, `echo '# x' | tee -a mine/gc mine/mc >/dev/null; test ! .git/config -ef mine/gc; test .envrc -ef mine/envrc`)
	if changes, err := w.End(); len(changes) > 0 || err != nil {
		t.Errorf("changes %v, %v", changes, err)
	}
}

func TestAFolderThatCannotBeListedIsKeptOut(t *testing.T) {
	t.Parallel()
	dir := workplace(t)
	sh(t, dir, `mkdir -p .git/modules/lib/hooks .git/modules/lib/objects; echo '[core]' > .git/modules/lib/config`)
	var k protected.Keeper
	w := guard(t, &k, dir)
	sh(t, dir, `cd .git/modules; mkdir $(seq -f m%.0f 1002); echo evil > m0; echo evil > lib/config; echo evil > m7/config
		echo evil > lib/hooks/pre-push`)
	changes, err := w.End()
	if err != nil || !strings.Contains(changesText(changes), "held too many names") {
		t.Errorf("changes %v, %v", changes, err)
	}
	sh(t, dir, `cd .git/modules; test "$(ls)" = lib; test "$(cat lib/config)" = '[core]'; test -d lib/objects
		test -z "$(ls lib/hooks | grep -v refused)"
		test -d ../modules.refused/m1002`)
	if again, err := guard(t, &k, dir).End(); len(again) > 0 || err != nil {
		t.Errorf("the next command: %v, %v", again, err)
	}
}

func changesText(changes []protected.Change) string {
	var all []string
	for _, c := range changes {
		all = append(all, c.String())
	}
	return strings.Join(all, "\n")
}

func TestAMovedRepositoryIsMovedBackAndThatIsSaid(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, says string }{
		"moved":             {`mv .git g2; echo x > g2/hooks/pre-commit`, ".git had been moved to g2, and is back"},
		"moved deep":        {`mkdir -p a/b/c; mv .git a/b/c/g; mkdir .git; touch .git/x`, ".git had been moved to a/b/c/g, and is back"},
		"behind a link":     {`mv .git a; ln -s a .git`, ".git had been moved to a, and is back"},
		"into a bare place": {`mkdir s; mv .git s/.git`, ".git had been moved to s/.git, and is back"},
		"removed":           {`rm -rf .git`, ".git is gone, and cannot be put back"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := workplace(t)
			var k protected.Keeper
			w := guard(t, &k, dir)
			sh(t, dir, c.script)
			changes, err := w.End()
			if err != nil || !strings.Contains(changesText(changes), c.says) {
				t.Errorf("changes %v, %v, want %s", changes, err, c.says)
			}
			for _, line := range strings.Split(changesText(changes), "\n") {
				place, isThere := strings.CutSuffix(line, " was missing and is there again")
				if _, err := os.Lstat(place); isThere && err != nil {
					t.Errorf("it says %q, and %v", line, err)
				}
			}
			if name != "removed" {
				sh(t, dir, `git status >/dev/null; test ! -e .git/hooks/pre-commit; test "$(cat .git/hooks/pre-push)" = x`)
			}
			if again, err := guard(t, &k, dir).End(); len(again) > 0 || err != nil {
				t.Errorf("the next command: %v, %v", again, err)
			}
		})
	}
}

func TestALargeHookIsComparedThoughItCannotBePutBack(t *testing.T) {
	t.Parallel()
	for script, says := range map[string]string{
		`true`: "", `cp .git/hooks/big x; mv x .git/hooks/big; ln .git/hooks/big y`: "",
		`chmod 755 .git/hooks/big`:                                 "has its own again",
		`printf x | dd of=.git/hooks/big conv=notrunc status=none`: "is too large to be put back",
		`echo x > .git/hooks/big`:                                  "is too large to be put back",
		`truncate -s 90M .git/hooks/big`:                           "is too large to be put back",
		`rm .git/hooks/big`:                                        "is too large to be put back",
	} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			dir := workplace(t)
			sh(t, dir, `truncate -s 2M .git/hooks/big; chmod 700 .git/hooks/big`)
			var k protected.Keeper
			w := guard(t, &k, dir)
			sh(t, dir, script)
			changes, err := w.End()
			if text := changesText(changes); err != nil || says == "" && text != "" || !strings.Contains(text, says) {
				t.Errorf("changes %v, %v, want %q", changes, err, says)
			}
			if again, err := guard(t, &k, dir).End(); len(again) > 0 || err != nil {
				t.Errorf("the next command: %v, %v", again, err)
			}
		})
	}
}

func TestWhatOneCommandMayChangeAnotherMayNot(t *testing.T) {
	t.Parallel()
	dir := workplace(t)
	var k protected.Keeper
	background := guard(t, &k, dir)
	approved, err := k.Watch([]bailiff.Mount{{Source: dir, Target: dir, Protected: []string{".envrc"}}})
	if err != nil {
		t.Fatal(err)
	}
	sh(t, dir, `git remote add up https://git.test/a`)
	changes, err := approved.End()
	if err != nil || len(changes) != 1 || !strings.Contains(changes[0].String(), "while another command runs in the folder") {
		t.Errorf("changes %v, %v", changes, err)
	}
	if changes, err := background.End(); len(changes) > 0 || err != nil {
		t.Errorf("the other is told %v, %v", changes, err)
	}
	if approved, err = k.Watch([]bailiff.Mount{{Source: dir, Target: dir, Protected: []string{".envrc"}}}); err != nil {
		t.Fatal(err)
	}
	sh(t, dir, `git remote add up https://git.test/a`)
	if changes, err := approved.End(); len(changes) > 0 || err != nil {
		t.Errorf("alone it is put back: %v, %v", changes, err)
	}
}

func TestALookPutsBackWhileACommandGoesOn(t *testing.T) {
	t.Parallel()
	dir := workplace(t)
	var k protected.Keeper
	w := guard(t, &k, dir)
	sh(t, dir, shell+`echo evil > .mcp.json; git init -q emb; echo "$evil" > emb/.git/config
		g rebase -q main >/dev/null 2>&1 || echo 'exec touch ran' >> .git/rebase-merge/git-rebase-todo`)
	changes, err := w.Look()
	if err != nil || len(changes) != 2 {
		t.Errorf("a look puts back %v, %v", changes, err)
	}
	sh(t, dir, `test ! -e .mcp.json; test ! -e emb/.git/config; grep -q exec .git/rebase-merge/git-rebase-todo; echo evil > .mcp.json`)
	if again, err := w.Look(); len(again) > 0 || err != nil {
		t.Errorf("at once it looks again: %v, %v", again, err)
	}
	changes, err = w.End()
	if err != nil || len(changes) != 2 || !strings.Contains(changesText(changes), "git-rebase-todo (the changed one") {
		t.Errorf("the end puts back %v, %v", changes, err)
	}
}
