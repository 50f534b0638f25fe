package shell

import "strings"

// unpacked is a folder in which something from the network lies. Beside says that
// other files may lie there too: only what is in a folder below counts then.
type unpacked struct {
	folder string
	beside bool
}

// unpack notes that a call fills a folder from the network.
func (a *analysis) unpack(folder string, beside bool) {
	if len(a.unpacked) < maxFields {
		a.unpacked = append(a.unpacked, unpacked{folder, beside})
	}
}

// downloaded says whether a file lies in what was fetched and unpacked.
func (a *analysis) downloaded(p string) bool {
	for _, u := range a.unpacked {
		if !a.spend(1) {
			return true
		}
		below, ok := strings.CutPrefix(p, strings.TrimSuffix(u.folder, "/")+"/")
		if u.folder == "." {
			below, ok = p, !strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "~")
		}
		if ok && (!u.beside || strings.Contains(below, "/")) {
			return true
		}
	}
	return false
}

// extracts follows an archive from the network into the folder that gets its files.
func (a *analysis) extracts(inv *invocation, archive stream, folder word, given bool) {
	if !archive.Fetched {
		return
	}
	if !given {
		folder = known(".")
	}
	a.unpack(a.path(folder, inv.sc), !given)
}

// unzip follows "unzip FILE -d DIR".
func (a *analysis) unzip(inv *invocation, args *arguments) result {
	dir, given := args.value("-d")
	if len(args.operands) > 0 {
		a.extracts(inv, a.stored(args.operands[0], inv.sc), dir, given)
	}
	return result{out: unknown(inv.in.Taint)}
}

// untar follows "tar x" of a file or of its input.
func (a *analysis) untar(inv *invocation, args *arguments) {
	dir, given := args.value("-C", "--directory")
	archive := inv.in
	if file, ok := args.value("-f", "--file"); ok && file.text != "-" {
		archive = a.stored(file, inv.sc)
	}
	a.extracts(inv, archive, dir, given)
}

// clone follows "git clone URL [DIR]".
func (a *analysis) clone(inv *invocation, ops []word) {
	if len(ops) < 2 {
		return
	}
	from, to := ops[1], part(ops[1], urlBase(strings.TrimSuffix(strings.TrimRight(ops[1].text, "/"), ".git")))
	if !strings.Contains(from.text, ":") {
		return // from this machine
	}
	if len(ops) > 2 {
		to = ops[2]
	}
	a.unpack(a.path(to, inv.sc), false)
}
