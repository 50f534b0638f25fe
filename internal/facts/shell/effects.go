package shell

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// effects are the files and hosts that one call names.
type effects struct{ reads, writes, lost, hosts []string }

// effect gathers them.
type effect struct {
	effects
	a    *analysis
	args *arguments
	sc   *scope
}

func (a *analysis) effects(name string, args *arguments, sc *scope) effects {
	p := described(name)
	e := &effect{a: a, args: args, sc: sc}
	for _, o := range args.options {
		e.option(o, p)
	}
	if !runsOperands(name, p, args) {
		e.operands(p.operands)
	}
	e.particular(name)
	e.losses(name)
	return e.effects
}

// runsOperands says that the operands are another call, with effects of its own.
func runsOperands(name string, p *program, args *arguments) bool {
	if interpreter(name) != "" {
		return args.has("-c", "-e", "-E", "--eval")
	}
	return p.strict && p.operands == roleNone
}

func (e *effect) read(words ...word) {
	for _, w := range words {
		if !e.url(w) {
			e.reads = add(e.reads, e.a.path(w, e.sc))
		}
	}
}

func (e *effect) write(words ...word) {
	for _, w := range words {
		if !e.url(w) {
			e.writes = add(e.writes, e.a.path(w, e.sc))
		}
	}
}

func (e *effect) url(w word) bool {
	if file, ok := strings.CutPrefix(w.text, "file://"); ok {
		e.reads = add(e.reads, e.a.path(part(w, file), e.sc))
		return true
	}
	h, ok := value.URLHost(w.text)
	if ok {
		e.host(h)
	}
	return ok
}

func (e *effect) host(h string) {
	if h != "" && h != "-" {
		e.hosts = append(e.hosts, h)
	}
}

func (e *effect) option(o option, p *program) {
	what, _ := p.takes(o.name)
	switch what {
	case 'w':
		e.write(o.value)
	case 'r':
		e.read(o.value)
	case '@':
		if _, file, ok := strings.Cut("="+o.value.text, "=@"); ok {
			file, _, _ = strings.Cut(file, ";")
			e.read(part(o.value, file))
		} else if i := strings.IndexByte(o.value.text, '@'); i > 0 && o.value.text[i-1] == '=' {
			file, _, _ := strings.Cut(o.value.text[i+1:], ";")
			e.read(part(o.value, file))
		}
	case 'u', 'h':
		e.host(value.BareHost(o.value.text))
	}
}

func (e *effect) operands(r role) {
	ops := e.args.operands
	switch r {
	case roleText:
	case roleReads:
		e.read(ops...)
	case roleWrites, roleMoves:
		e.write(ops...)
	case roleCopies:
		e.copies(ops)
	case roleScript:
		e.read(e.afterScript(ops)...)
	case roleMode:
		e.mode(ops)
	case roleURLs:
		for _, w := range ops {
			if !e.url(w) {
				e.host(value.BareHost(w.text))
			}
		}
	case roleHost:
		if len(ops) > 0 && !e.args.has("-l") {
			e.host(value.BareHost(ops[0].text))
		}
	case roleHosts:
		for _, w := range ops {
			e.host(value.BareHost(w.text))
		}
	case roleRemote:
		e.remote(ops)
	case roleFirst:
		if len(ops) > 0 {
			e.write(ops[0])
		}
	case roleArchive:
		if len(ops) > 0 {
			e.write(ops[0])
			e.read(ops[1:]...)
		}
	default:
		for _, w := range ops {
			e.url(w)
		}
	}
}

func (e *effect) copies(ops []word) {
	if len(ops) == 0 {
		return
	}
	if _, ok := e.args.value("-t", "--target-directory"); ok || len(ops) == 1 || e.args.has("-d") {
		e.read(ops...)
		return
	}
	e.read(ops[:len(ops)-1]...)
	e.write(ops[len(ops)-1])
}

// afterScript are the operands after a pattern or a program, if that is one of them.
func (e *effect) afterScript(ops []word) []word {
	_, given := e.args.value("-e", "-f", "--expression", "--file", "--regexp", "--from-file")
	if given || len(ops) == 0 || e.args.has("--files") {
		return ops
	}
	return ops[1:]
}

func (e *effect) mode(ops []word) {
	if len(ops) > 0 && !e.args.has("--reference") && !takesAway(e.args.all) {
		ops = ops[1:]
	}
	e.write(ops...)
}

// takesAway says whether the mode is one like "-x", which looks like an option.
func takesAway(words []word) bool {
	return slices.ContainsFunc(words, func(w word) bool {
		return len(w.text) > 1 && w.text[0] == '-' && strings.Trim(w.text[1:], "rwxXst") == ""
	})
}

func (e *effect) remote(ops []word) {
	for i, w := range ops {
		if h, ok := value.RemotePath(w.text); ok {
			e.host(h)
		} else if i == len(ops)-1 {
			e.write(w)
		} else {
			e.read(w)
		}
	}
}

// particular are the effects that only one program has.
func (e *effect) particular(name string) {
	ops := e.args.operands
	switch name {
	case "tar", "bsdtar":
		e.tar(ops)
	case "cpio":
		e.cpio(ops)
	case "unzip":
		if _, given := e.args.value("-d"); !given && !e.args.has("-l", "-t", "-v", "-Z", "-p") {
			e.write(known("."))
		}
	case "find":
		e.find(e.args.all)
	case "ssh", "mosh", "autossh":
		if len(ops) > 0 {
			e.host(value.BareHost(ops[0].text))
		}
	case "ssh-keygen":
		e.sshKeygen()
	case "docker", "podman", "nerdctl":
		e.mounts()
	case "dig":
		e.dig(ops)
	case "git":
		e.git(ops)
	case "socat":
		e.socat(ops)
	case "wget", "curl":
		e.download(name, ops)
	default:
		e.inPlace(name, ops)
	}
}

// inPlace are the effects of programs that change or read what they are given.
func (e *effect) inPlace(name string, ops []word) {
	switch name {
	case "dd":
		e.dd(ops)
	case "sed":
		if e.args.has("-i", "--in-place") {
			e.write(e.afterScript(ops)...)
		}
	case "perl", "ruby":
		if e.args.has("-i") && e.args.has("-e", "-E") {
			e.write(ops...)
			e.read(ops...)
		}
	case "source", ".":
		if len(ops) > 0 {
			e.read(ops[0])
		}
	default:
		if strings.HasPrefix(name, "mkfs.") || strings.HasPrefix(name, "mke2fs") || name == "newfs" {
			e.write(ops...)
		}
	}
}

func (e *effect) dd(ops []word) {
	for _, w := range ops {
		if file, ok := strings.CutPrefix(w.text, "if="); ok {
			e.read(part(w, file))
		} else if file, ok := strings.CutPrefix(w.text, "of="); ok {
			e.write(part(w, file))
		}
	}
}

// tar writes what it creates, and the folder that it extracts to.
func (e *effect) tar(ops []word) {
	file, ok := e.args.value("-f", "--file")
	dir, inDir := e.args.value("-C", "--directory")
	if extracting(e.args) || e.args.has("--list", "-t") {
		if ok {
			e.read(file)
		}
		if inDir {
			e.write(dir)
		} else if extracting(e.args) {
			e.write(known("."))
		}
		return
	}
	if ok {
		e.write(file)
	}
	if inDir {
		e.read(dir)
	}
	e.read(ops...)
}

// extracting says whether tar unpacks an archive.
func extracting(args *arguments) bool {
	return args.has("-x", "--extract", "--get") && !args.has("-c", "--create")
}

// cpio writes below the folder that it is given, or below the current one.
func (e *effect) cpio(ops []word) {
	if dir, ok := e.args.value("-D", "--directory"); ok {
		ops = []word{dir}
	} else if e.args.has("-i", "--extract") || len(ops) == 0 {
		ops = []word{known(".")}
	}
	if e.args.has("-i", "--extract", "-p", "--pass-through") {
		e.write(ops...)
	}
}

// sshKeygen writes the file of a key, unless it is only asked about one.
func (e *effect) sshKeygen() {
	file, ok := e.args.value("-f")
	if !ok {
		return
	}
	if e.args.has("-l", "-y", "-B", "-F", "-e", "-H") {
		e.read(file)
		return
	}
	e.write(file)
}

// find reads the folders before its expression, and deletes from them with -delete.
func (e *effect) find(words []word) {
	e.read(findFolders(words)...)
	if e.args.has("-delete") {
		e.write(found(words)...)
		e.lose(found(words)...)
	}
}

// mounts are the folders of the host that a container may read and change.
func (e *effect) mounts() {
	for _, o := range e.args.options {
		folder, rest, ok := strings.Cut(o.value.text, ":")
		if !ok || o.name != "-v" && o.name != "--volume" || !strings.ContainsAny(folder, "/~$.") {
			continue
		}
		e.read(part(o.value, folder))
		if !strings.HasSuffix(rest, ":ro") {
			e.write(part(o.value, folder))
		}
	}
}

func (e *effect) dig(ops []word) {
	for _, w := range ops {
		if server, ok := strings.CutPrefix(w.text, "@"); ok {
			e.host(value.NormalHost(server))
		} else if strings.Contains(w.text, ".") {
			e.host(value.NormalHost(w.text))
		}
	}
}

func (e *effect) git(ops []word) {
	if len(ops) == 0 {
		return
	}
	switch ops[0].text {
	case "clone", "fetch", "pull", "push", "remote", "ls-remote", "submodule", "archive", "bundle":
		for _, w := range ops[1:] {
			if h, ok := value.RemotePath(w.text); ok && !strings.HasPrefix(w.text, "+") && strings.ContainsAny(w.text, "@.") {
				e.host(h)
			}
		}
	case "rm", "mv", "clean":
		e.write(ops[1:]...)
	}
}

func (e *effect) socat(ops []word) {
	for _, w := range ops {
		kind, rest, _ := strings.Cut(w.text, ":")
		switch strings.ToLower(strings.TrimRight(kind, "46")) {
		case "tcp", "tcp-connect", "udp", "udp-connect", "openssl", "openssl-connect", "ssl", "socks4a", "proxy":
			e.host(value.BareHost(strings.SplitN(rest, ",", 2)[0]))
		}
	}
}

// download writes the file that a URL is stored in where no option names it.
func (e *effect) download(name string, ops []word) {
	_, out := e.args.value("-o", "--output", "-O", "--output-document")
	if name == "curl" && !e.args.has("-O", "--remote-name", "--remote-name-all") || name == "wget" && (out && !e.args.has("-o")) || e.args.has("--spider") {
		return
	}
	dir, _ := e.args.value("-P", "--directory-prefix", "--output-dir")
	for _, w := range ops {
		if base := urlBase(w.text); base != "" {
			e.write(part(w, path.Join(dir.text, base)))
		}
	}
}

// urlBase is the name a URL is stored under.
func urlBase(u string) string {
	u, _, _ = strings.Cut(u, "?")
	_, rest, ok := strings.Cut(u, "://")
	if !ok {
		rest = u
	}
	i := strings.LastIndexByte(rest, '/')
	if i < 0 {
		return "index.html"
	}
	return cmp.Or(rest[i+1:], "index.html")
}
