package languages

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"strconv"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// Computes says that a source in a compiled language only computes and prints: each package that it imports is on the list, by its own
// name, so is each member of those that do more, and each function has its text there. Only Go is read.
func Computes(file, text string) bool {
	if path.Ext(file) != ".go" || goCommands.MatchString(text) {
		return false
	}
	source, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		return false
	}
	for _, spec := range source.Imports {
		if at, err := strconv.Unquote(spec.Path.Value); err != nil || spec.Name != nil || !goPackages[at] {
			return false
		}
	}
	harmless, members := true, map[*ast.Ident]bool{}
	ast.Inspect(source, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			harmless = harmless && n.Body != nil // else it is written in another language
		case *ast.SelectorExpr:
			if of, ok := n.X.(*ast.Ident); ok && goHarmless[of.Name+"."+n.Sel.Name] {
				members[of] = true
			}
			members[n.Sel] = true // a field or a method of that name
		case *ast.Ident:
			harmless = harmless && (members[n] || !goDoMore[n.Name])
		}
		return harmless
	})
	return harmless
}

// goCommands are comments that the compiler obeys.
var goCommands = regexp.MustCompile(`(?m)^\s*//go:(?:linkname|generate|embed|cgo\w*)\b`)

var goPackages = value.SetOf("bufio bytes cmp container/heap container/list container/ring context encoding/base64 encoding/binary " +
	"encoding/csv encoding/hex encoding/json encoding/xml errors fmt hash hash/crc32 hash/fnv crypto/md5 crypto/sha1 crypto/sha256 " +
	"crypto/sha512 html io iter log maps math math/big math/bits math/cmplx math/rand math/rand/v2 os regexp slices sort strconv " +
	"strings sync sync/atomic testing testing/quick text/tabwriter time unicode unicode/utf16 unicode/utf8")

// goDoMore are packages of which not all members only compute.
var goDoMore = value.SetOf("os io log")

// goHarmless are the members of packages that do more.
var goHarmless = value.SetOf("os.Args os.Stdin os.Stdout os.Stderr os.Exit io.EOF io.Reader io.Writer io.ReadAll io.Discard io.Copy " +
	"io.WriteString io.Pipe io.MultiWriter io.TeeReader log.Fatal log.Fatalf log.Fatalln log.Print log.Printf log.Println log.SetFlags " +
	"log.SetPrefix log.Panic log.Panicf log.New log.LstdFlags")
