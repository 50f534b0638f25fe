package object

import (
	"net/url"
	"path"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// PathMember is an attribute of a pathlib.Path.
func PathMember(b Object, name string) Objects {
	if strings.HasSuffix(b.Text, AnyName) {
		switch name {
		case "path":
			return Objects{b}
		case "name":
			return TextOf(AnyName)
		}
	}
	if !Literal(b.Text) {
		return Hidden(name, b.Taint)
	}
	base := path.Base(b.Text)
	switch name {
	case "parent":
		return Objects{{Shape: IsPath, Text: path.Dir(b.Text)}}
	case "name":
		return TextOf(base)
	case "suffix":
		return TextOf(path.Ext(base))
	case "stem":
		return TextOf(strings.TrimSuffix(base, path.Ext(base)))
	}
	return Hidden(name, b.Taint)
}

// Rooted says that a path begins at the root or in a home.
func Rooted(v Object) bool {
	return (v.Shape == IsString || v.Shape == IsPath) && (strings.HasPrefix(v.Text, "/") || strings.HasPrefix(v.Text, "~") ||
		strings.HasPrefix(v.Text, VariableHole+"HOME"+HoleEnd))
}

// Searched are the folders that have to be listed to find what matches patterns.
func Searched(patterns Objects) Objects {
	var folders Objects
	for _, p := range patterns {
		if i := strings.IndexAny(p.Text, "*?["); i > 0 && (p.Shape == IsString || p.Shape == IsPath) {
			p.Text = p.Text[:strings.LastIndexByte(p.Text[:i], '/')+1]
		}
		folders = append(folders, p)
	}
	return folders
}

func AsPaths(lists Objects) Objects {
	for _, l := range lists {
		for _, item := range l.Items {
			for i := range item {
				item[i].Shape = IsPath
			}
		}
	}
	return lists
}

// FileURL is the path of a file: URL.
func FileURL(text string) string {
	rest := text[len("file:"):]
	if below, ok := strings.CutPrefix(rest, "//"); ok {
		_, rest, _ = strings.Cut(below, "/")
		rest = "/" + rest
	}
	rest, _, _ = strings.Cut(rest, "?")
	if plain, err := url.PathUnescape(rest); err == nil {
		rest = plain
	}
	return rest
}

// OnlyReads says whether the flags of os.open let a file be read and nothing else.
func OnlyReads(flags Object) bool {
	const writing = 0o3 | 0o100 | 0o1000 // the access mode, O_CREAT, O_TRUNC
	return flags.Shape == IsSymbol && flags.Text == "os.O_RDONLY" || flags.Shape == IsInt && flags.Number&writing == 0
}

// FoldersOf are the paths of folders that are open.
func FoldersOf(open Objects) Objects {
	var out Objects
	for _, f := range open {
		if f.Shape == IsFile {
			f.Shape = IsString
		}
		out = out.With(Objects{f})
	}
	return out
}

func JoinAll(args []Objects) Objects {
	if len(args) == 0 {
		return TextOf(".")
	}
	all := args[0].Strs()
	for _, more := range args[1:] {
		all = EachPair(all, more, func(a, b Object) Object {
			p := JoinPath(a, b)
			p.Shape = IsString
			return p
		})
	}
	return all
}

// ContentOf is the text of a file.
func ContentOf(file Object) Objects {
	text := Hidden("text", value.Taint{Read: true}.With(file.Taint))
	if Whole(file.Text) {
		text[0].File = file.Text
	}
	return text
}

// UnfollowedPaths has methods of what a search found noted as those of a path, where its names are not known.
func UnfollowedPaths(found Objects) Objects {
	for i := range found {
		if found[i].Shape == IsUnknown {
			found[i].Library = "pathlib.Path"
		}
	}
	return found
}

// SocketOf is the path in the address of a socket, such as //%2Frun%2Fx.sock/info.
func SocketOf(rest string) string {
	rest = strings.TrimPrefix(rest, "//")
	if strings.Contains(rest, "%2") {
		rest, _, _ = strings.Cut(rest, "/")
	}
	if plain, err := url.PathUnescape(rest); err == nil {
		rest = plain
	}
	return rest
}

// PathOf is a path that a method makes of another one.
func PathOf(b Object, name string, c *Call) (Objects, bool) {
	switch name {
	case "joinpath":
		joined := JoinAll(append([]Objects{{b}}, c.Args...))
		for i := range joined {
			joined[i].Shape = IsPath
		}
		return joined, true
	case "expanduser", "resolve", "absolute", "as_posix", "__str__", "__fspath__":
		return Objects{b}, true
	}
	return nil, false
}

// BaseNames are the last names of paths.
func BaseNames(paths Objects) Objects {
	var out Objects
	for _, p := range paths {
		if p.Shape == IsString || p.Shape == IsPath {
			out = out.With(TextOf(path.Base(p.Text)))
		}
	}
	return out
}
