package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // a format that nfpm knows
	"github.com/goreleaser/nfpm/v2/files"
)

// pack makes the files of a release for one architecture, or the Debian package alone.
func (r *release) pack(arch string) error {
	all, err := r.tree(arch)
	if err != nil {
		return err
	}
	steps := []func() error{func() error { return r.system("deb", arch, all) }}
	if !debOnly {
		steps = append(steps,
			func() error { return r.tarball(arch, all) },
			func() error { return r.system("rpm", arch, all) },
			func() error { return r.image(arch) },
			func() error { return r.bill(arch) })
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// tarball is for machines without packages: the programs in bin, the rest in share and
// examples, all below one folder.
func (r *release) tarball(arch string, all []file) error {
	top := "bailiff-" + r.version + "/"
	var moved []file
	for _, f := range all {
		to := strings.NewReplacer("usr/share/doc/bailiff/copyright", "LICENSE", "usr/lib/systemd/system", "examples/systemd",
			"usr/lib/sysusers.d", "examples/sysusers.d", "etc/bailiff", "examples", "usr/", "").Replace(f.path)
		moved = append(moved, file{top + to, f.mode, f.text})
	}
	text, err := r.archive(moved)
	if err != nil {
		return err
	}
	return write(r.name(arch, "tar.gz"), packed(text))
}

// archive is a tar of files and of the folders that hold them, all root's and of the
// release's date.
func (r *release) archive(all []file) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range withFolders(all) {
		header := &tar.Header{Name: f.path, Mode: int64(f.mode.Perm()), Size: int64(len(f.text)), ModTime: r.date, Typeflag: tar.TypeReg,
			Format: tar.FormatPAX}
		if f.mode.IsDir() {
			header.Name, header.Typeflag = f.path+"/", tar.TypeDir
		}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.text); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

func withFolders(all []file) []file {
	known := map[string]bool{}
	var whole []file
	for _, f := range all {
		for folder := path.Dir(f.path); folder != "." && !known[folder]; folder = path.Dir(folder) {
			known[folder] = true
			whole = append(whole, file{folder, fs.ModeDir | 0o755, nil})
		}
		whole = append(whole, f)
	}
	slices.SortFunc(whole, func(a, b file) int { return strings.Compare(a.path, b.path) })
	return whole
}

// system makes a package for distributions of one kind.
func (r *release) system(kind, arch string, all []file) error {
	packager, err := nfpm.Get(kind)
	if err != nil {
		return err
	}
	contents, err := r.contents(arch, all)
	if err != nil {
		return err
	}
	info := nfpm.WithDefaults(r.info(kind, arch, contents))
	if err := nfpm.PrepareForPackager(info, kind); err != nil {
		return err
	}
	var out bytes.Buffer
	if err := packager.Package(info, &out); err != nil {
		return err
	}
	return write(r.name(arch, kind), out.Bytes())
}

// info is what a package says of itself.
func (r *release) info(kind, arch string, contents files.Contents) *nfpm.Info {
	script := func(name string) string { return filepath.Join(r.source, "release", kind, name) }
	info := &nfpm.Info{
		Name: "bailiff", Arch: arch, Version: "v" + r.version, Release: "1", Section: "admin", Priority: "optional", MTime: r.date,
		Maintainer: "The bailiff authors <bailiff-dev@users.noreply.github.com>",
		License:    "Apache-2.0", Homepage: "https://github.com/bailiff-dev/bailiff",
		Description: "judges, sandboxes and logs what AI agents run on a machine\n" +
			"Every command and script of an agent is judged by Rego policies, which choose\n" +
			"the sandbox, the variables that may enter it, and whether a person must approve.",
		DisableGlobbing: true,
		Overridables: nfpm.Overridables{
			Contents: contents, Recommends: []string{"bubblewrap", "ca-certificates"},
			RPM:     nfpm.RPM{BuildHost: "localhost"},
			Scripts: nfpm.Scripts{PostInstall: script("postinst"), PreRemove: script("prerm"), PostRemove: script("postrm")},
		},
	}
	if kind == "deb" { // rpm itself refuses an older version
		info.Scripts.PreInstall = script("preinst")
	}
	return info
}

// contents has nfpm read the files from a folder, where it wants them.
func (r *release) contents(arch string, all []file) (files.Contents, error) {
	var whole files.Contents
	for _, f := range all {
		from := filepath.Join(r.work, "tree", arch, f.path)
		if err := write(from, f.text); err != nil {
			return nil, err
		}
		kind := files.TypeFile
		if f.path == configuration {
			kind = files.TypeConfigNoReplace
		}
		whole = append(whole, &files.Content{Source: from, Destination: "/" + f.path, Type: kind,
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: f.mode, MTime: r.date}})
	}
	return whole, nil
}

// sum writes the checksums of all files of the release.
func (r *release) sum() error {
	made, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var lines bytes.Buffer
	for _, entry := range made {
		text, err := os.ReadFile(filepath.Join(r.out, entry.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&lines, "%x  %s\n", sha256.Sum256(text), entry.Name())
	}
	return write(filepath.Join(r.out, "checksums.txt"), lines.Bytes())
}

// namespace keeps a signature from counting for anything but a release of bailiff.
const namespace = "bailiff-release"

// sign has ssh-keygen sign the checksums, where there is a key.
func (r *release) sign(key string) error {
	if key == "" {
		return nil
	}
	printed, err := exec.Command("ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", namespace,
		filepath.Join(r.out, "checksums.txt")).CombinedOutput()
	if err != nil {
		return fmt.Errorf("signing the checksums: %w\n%s", err, printed)
	}
	return nil
}
