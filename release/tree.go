package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// file is one that is installed; its path has no leading slash.
type file struct {
	path string
	mode fs.FileMode
	text []byte
}

// tree are the files that a package installs on a machine, by their paths.
func (r *release) tree(arch string) (all []file, err error) {
	for _, part := range []func() ([]file, error){
		func() ([]file, error) { return r.installedPrograms(arch) }, r.service, r.papers, r.manual,
	} {
		some, err := part()
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	slices.SortFunc(all, func(a, b file) int { return strings.Compare(a.path, b.path) })
	return all, nil
}

func (r *release) installedPrograms(arch string) (all []file, err error) {
	for _, p := range programs {
		text, err := os.ReadFile(filepath.Join(r.programs(arch), p.name))
		if err != nil {
			return nil, err
		}
		all = append(all, file{"usr/bin/" + p.name, 0o755, text})
	}
	return all, nil
}

// services are the files of the service: the one that runs in the examples, where a
// package puts it.
var services = map[string]string{
	"examples/systemd/bailiff-head.service":              "usr/lib/systemd/system/bailiff-head.service",
	"examples/systemd/bailiff-head.timer":                "usr/lib/systemd/system/bailiff-head.timer",
	"examples/systemd/bailiff.service":                   "usr/lib/systemd/system/bailiff.service",
	"examples/systemd/bailiff.service.d/bubblewrap.conf": "usr/lib/systemd/system/bailiff.service.d/bubblewrap.conf",
	"examples/systemd/bailiff.service.d/docker.conf":     "usr/share/doc/bailiff/examples/docker.conf",
	"examples/systemd/sysusers.conf":                     "usr/lib/sysusers.d/bailiff.conf",
	"release/bailiff.yaml":                               configuration,
}

const configuration = "etc/bailiff/bailiff.yaml"

func (r *release) service() (all []file, err error) {
	for from, to := range services {
		text, err := os.ReadFile(filepath.Join(r.source, from))
		if err != nil {
			return nil, err
		}
		text = bytes.ReplaceAll(text, []byte("/usr/local/bin/"), []byte("/usr/bin/"))
		all = append(all, file{to, 0o644, text})
	}
	return all, nil
}

// papers are the licence, the changelog, the policies, to be copied and changed, and the
// schemas by which editors know their tables.
func (r *release) papers() (all []file, err error) {
	licence, err := os.ReadFile(filepath.Join(r.source, "LICENSE"))
	if err != nil {
		return nil, err
	}
	changes, err := os.ReadFile(filepath.Join(r.source, "CHANGELOG.md"))
	if err != nil {
		return nil, err
	}
	all = []file{{"usr/share/doc/bailiff/copyright", 0o644, licence}, {"usr/share/doc/bailiff/changelog.gz", 0o644, packed(changes)}}
	for _, folder := range []string{"policies", "schemas"} {
		some, err := r.shared(folder)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// shared are the files of a folder that are installed beside each other.
func (r *release) shared(folder string) (all []file, err error) {
	from := filepath.Join(r.source, folder)
	err = filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) == ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		all = append(all, file{"usr/share/bailiff/" + folder + strings.TrimPrefix(path, from), 0o644, text})
		return err
	})
	return all, err
}

// manual are the manual pages and the completions.
func (r *release) manual() (all []file, err error) {
	err = filepath.WalkDir(r.documents(), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		to := strings.TrimPrefix(path, r.documents()+"/")
		if strings.HasPrefix(to, "usr/share/man/") {
			to, text = to+".gz", packed(text)
		}
		all = append(all, file{to, 0o644, text})
		return err
	})
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("bailiff wrote no manual pages")
	}
	return all, err
}

// packed is a text as gzip packs it without a name and a time.
func packed(text []byte) []byte {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err) // a buffer takes everything, and the level is one
	}
	return out.Bytes()
}
