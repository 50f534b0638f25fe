package protected

import (
	"bytes"
	"crypto/sha1"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	gitdir "github.com/bailiff-dev/bailiff/internal/project/repository"
)

func git(t *testing.T, dir, script string) string {
	t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return string(out)
}

func TestOnlyTheRepositoryIsTakenOutOfTheIndex(t *testing.T) {
	t.Parallel()
	const other = "; mkdir a; touch a/x a/y emb2 ema z; git add a ema emb2 z"
	for name, script := range map[string]string{
		"version 2": `git init -q .` + other,
		"version 3": `git init -q .` + other + `; touch n; git add -N n`,
		"version 4": `git init -q .` + other + `; git update-index --index-version 4`,
		"SHA-256":   `git init -q --object-format=sha256 .` + other,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			git(t, dir, script)
			want := git(t, dir, "git ls-files -s -t")
			var k Keeper
			w, err := k.Watch([]bailiff.Mount{{Source: dir, Target: dir, Protected: []string{repository, repositories}}})
			if err != nil {
				t.Fatal(err)
			}
			format := strings.TrimSpace(git(t, dir, "git rev-parse --show-object-format"))
			git(t, dir, `for e in emb a/emb; do git init -q --object-format=`+format+` $e
				git -C $e -c user.name=a -c user.email=a@b.test commit -q --allow-empty -m x; git add $e 2>&-; done
				git ls-files -s | grep -c ^160000`)
			changes, err := w.End()
			if err != nil || len(changes) != 1 || !strings.Contains(changes[0].String(), "had got a/emb, emb, which") {
				t.Errorf("changes %v, %v", changes, err)
			}
			if got := git(t, dir, "git ls-files -s -t; git fsck >/dev/null 2>&1; git status >/dev/null"); got != want {
				t.Errorf("the index holds\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestAnIndexThatGitHoldsIsWrittenAllTheSame(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	git(t, dir, `git init -q .; git init -q emb; git -C emb -c user.name=a -c user.email=a@b.test commit -q --allow-empty -m x
		touch f; git add f emb 2>&-; echo held > .git/index.lock`)
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	x, err := readIndex(root, ".git/index")
	if err == nil {
		err = writeIndex(root, ".git/index", x.Changed(func(e gitdir.IndexEntry) *gitdir.IndexEntry {
			if e.Path == "emb" {
				return nil
			}
			return &e
		}).Text)
	}
	if got := git(t, dir, "git ls-files; cat .git/index.lock; ls .git | grep -c index"); err != nil || got != "f\nheld\n2\n" {
		t.Errorf("%v, and there is %q", err, got)
	}
}

func TestWhatIsNoIndexIsNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	git(t, dir, `mkdir .git; mkfifo .git/a; ln -s index .git/b; echo DIRC > .git/c; truncate -s 1G .git/d; mkdir .git/e`)
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		if x, err := readIndex(root, filepath.Join(".git", name)); name != "b" && err == nil || len(x.Repositories()) > 0 {
			t.Errorf("%s is read: %+v, %v", name, x, err)
		}
	}
}

// Git writes what the index names, wherever that is, when its user has it put files back.
func TestTheIndexGetsNoFileOfGitsOwnAndNoOtherContentOfAProtectedOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	git(t, dir, "git init -q .; echo a >.envrc; echo f >f; echo h >h; ln -s h .gdbinit; git add .; rm -r .git/hooks; mkdir .git/hooks")
	var k Keeper
	w, err := k.Watch([]bailiff.Mount{{Source: dir, Target: dir, Protected: []string{repository, repositories, ".envrc", ".gdbinit",
		".vscode/", "**/.npmrc"}}})
	if err != nil {
		t.Fatal(err)
	}
	git(t, dir, `mkdir -p .gxt/hooks sub; echo evil >.gxt/hooks/post-checkout; chmod +x .gxt/hooks/post-checkout; echo new >new; echo g >f
		git add .gxt new f; b=$(git hash-object .gxt/hooks/post-checkout); rm -r .gxt; git update-index --cacheinfo 100644,$b,.envrc
		for name in .vscode/tasks.json sub/.npmrc; do git update-index --add --cacheinfo 100644,$b,$name; done
		git update-index --cacheinfo 120000,$b,.gdbinit`)
	index := filepath.Join(dir, ".git", "index")
	text, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte(".gxt/hooks"), []byte(".git/hooks"), 1)
	sum := sha1.Sum(text[:len(text)-sha1.Size])
	if err := os.WriteFile(index, append(text[:len(text)-sha1.Size], sum[:]...), 0o600); err != nil {
		t.Fatal(err)
	}
	changes, err := w.End()
	if err != nil || len(changes) != 1 || !strings.Contains(changes[0].String(),
		"had got another content of .envrc, .gdbinit, .git/hooks/post-checkout, .vscode/tasks.json, sub/.npmrc") {
		t.Errorf("changes %v, %v", changes, err)
	}
	const says = "git checkout -- .; git ls-files; cat .envrc f; readlink .gdbinit; ls .git/hooks"
	if got := git(t, dir, says); got != ".envrc\n.gdbinit\nf\nh\nnew\na\ng\nh\n" {
		t.Errorf("it has\n%s", got)
	}
}
