package languages

import (
	"path"
	"regexp"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// Computes says that a source in a compiled language only computes and prints: each package that it imports is on the list, and so is
// each member of those that do more. Only Go is read.
func Computes(file, text string) bool {
	if path.Ext(file) != ".go" || goCommands.MatchString(text) {
		return false
	}
	for _, block := range goImports.FindAllStringSubmatch(goComments.ReplaceAllString(text, " "), -1) {
		for _, spec := range goPaths.FindAllStringSubmatch(block[1]+block[2], -1) {
			if !goPackages[spec[2]] || spec[1] != "" {
				return false
			}
		}
	}
	for _, member := range goMembers.FindAllStringSubmatch(text, -1) {
		if !goHarmless[member[1]+member[2]] {
			return false
		}
	}
	return true
}

var (
	goImports = regexp.MustCompile(`(?s)\bimport\s*(?:\(([^)]*)\)|([^\n;(]*))`)
	// goPaths are the packages of a block with the names that they get.
	goPaths = regexp.MustCompile("([\\w.]*)\\s*[\"`]([^\"`\\n]*)[\"`]")
	// goCommands are comments that the compiler obeys.
	goCommands = regexp.MustCompile(`(?m)^\s*//go:(?:linkname|generate|embed|cgo\w*)\b`)
	// goComments are those before and between imports, where no text in quotes has their signs.
	goComments = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/`)
	// goMembers are the places where packages are named that do more, with the member that is meant where it follows at once.
	goMembers = regexp.MustCompile("(?:^|[^\\w.\"`])(os|io|log)\\b(\\.\\w+)?")
)

var goPackages = value.SetOf("bufio bytes cmp container/heap container/list container/ring context encoding/base64 encoding/binary " +
	"encoding/csv encoding/hex encoding/json encoding/xml errors fmt hash hash/crc32 hash/fnv crypto/md5 crypto/sha1 crypto/sha256 " +
	"crypto/sha512 html io iter log maps math math/big math/bits math/cmplx math/rand math/rand/v2 os regexp slices sort strconv " +
	"strings sync sync/atomic testing testing/quick text/tabwriter time unicode unicode/utf16 unicode/utf8 " +
	"github.com/stretchr/testify/assert github.com/stretchr/testify/require github.com/google/go-cmp/cmp")

// goHarmless are the members of packages that do more.
var goHarmless = value.SetOf("os.Args os.Stdin os.Stdout os.Stderr os.Exit io.EOF io.Reader io.Writer io.ReadAll io.Discard io.Copy " +
	"io.WriteString io.Pipe io.MultiWriter io.TeeReader log.Fatal log.Fatalf log.Fatalln log.Print log.Printf log.Println log.SetFlags " +
	"log.SetPrefix log.Panic log.Panicf log.New log.LstdFlags")
