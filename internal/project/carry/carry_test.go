package carry

import "testing"

func TestACommitMadeInsideIsTheUsersAfterTheCommand(t *testing.T) {
	w := start(t)
	w.told(w.run("echo x >>a; git commit -qam second; git status --short"), "")
	w.want("git log --format=%s", "second\nfirst")
	w.want("git status --short", "")
	w.want("git fsck --strict 2>&1", "")
	w.outside("echo y >>b; git commit -qam third")
	w.told(w.run("echo z >>a; git commit -qam fourth"), "")
	w.want("git log --format='%s %an'", "fourth User\nthird User\nsecond User\nfirst User")
	w.want("git status --short", "")
}
