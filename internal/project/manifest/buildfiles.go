package manifest

import (
	"crypto/sha256"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/project/repository"
)

const (
	// maxBuilt is how many bytes are read of all the files that builds have made, and maxPlaces how many of these are looked at.
	maxBuilt  = 256 << 20
	maxPlaces = 1_000
)

// outputs are the folders beside a build file in which its builds leave programs.
var outputs = map[string][]string{
	"Cargo.toml":     {"target/debug", "target/release"},
	"CMakeLists.txt": {"build", "build/bin", "cmake-build-debug", "cmake-build-release"},
	"meson.build":    {"build", "builddir"},
	"build.zig":      {"zig-out/bin"},
	"Package.swift":  {".build/debug", ".build/release"},
	"dune-project":   {"_build/install/default/bin"},
}

// makefiles are build files that name what they make as targets; the first of them that is there counts.
var makefiles = []string{"GNUmakefile", "makefile", "Makefile"}

// target is a line of a makefile that says how files are made, or what for.
var target = regexp.MustCompile(`(?m)^([\w./-]+(?:[ \t]+[\w./-]+)*)[ \t]*::?(?:[^=:]|$)`)

// built are the programs that builds have made as the build files of a project say, with the hash that git would keep them under.
func built(root string, tracked []string) map[string]string {
	files, err := os.OpenRoot(root)
	if err != nil {
		return nil
	}
	defer files.Close()
	all, left := map[string]string{}, int64(maxBuilt)
	for _, name := range places(files, tracked) {
		info, err := files.Lstat(name)
		if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 || info.Size() > min(left, maxFile) {
			continue
		}
		if text, err := repository.Read(files, name, maxFile); err == nil {
			all[name], left = repository.BlobHash(sha256.Size, text), left-int64(len(text))
		}
	}
	return all
}

// places are where builds leave programs.
func places(files *os.Root, tracked []string) (all []string) {
	for _, name := range makefiles {
		if text, err := repository.Read(files, name, maxFile); err == nil {
			all = append(all, targets(string(text))...)
			break
		}
	}
	for _, file := range tracked {
		for _, folder := range outputs[path.Base(file)] {
			folder = path.Join(path.Dir(file), folder)
			entries, _ := fs.ReadDir(files.FS(), folder) // none where builds have made nothing
			for _, entry := range entries {
				all = append(all, path.Join(folder, entry.Name()))
			}
		}
	}
	return all[:min(len(all), maxPlaces)]
}

// targets are the files that a makefile says it makes.
func targets(text string) (all []string) {
	for _, line := range target.FindAllStringSubmatch(text, -1) {
		for name := range strings.FieldsSeq(line[1]) {
			if name = path.Clean(name); fs.ValidPath(name) {
				all = append(all, name)
			}
		}
	}
	return all
}
