package vercel

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"sync"

	"github.com/bailiff-dev/bailiff/backends/backendtest/machine"
)

// files is the service in a machine that writes files as the default user.
type files struct {
	mu      sync.Mutex
	process *machine.Process
	said    *bufio.Reader
}

//go:embed testdata/files.py
var filesService string

func openFiles(m *machine.Machine) (*files, error) {
	p, err := m.Start(machine.Cmd{Argv: []string{"/usr/bin/python3", "-u", "-c", filesService}, User: 1000})
	if err != nil {
		return nil, err
	}
	return &files{process: p, said: bufio.NewReader(p.Stdout)}, nil
}

// write returns what the service says of it.
func (f *files) write(path string, mode int64, content []byte) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, err := fmt.Fprintf(f.process.Stdin, "%s %o %d\n", path, mode, len(content)); err != nil {
		return err.Error()
	}
	if _, err := f.process.Stdin.Write(content); err != nil {
		return err.Error()
	}
	said, err := f.said.ReadString('\n')
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(said)
}

func (l *lent) unpack(w http.ResponseWriter, into string, body []byte) {
	zipped, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		refuse(w, http.StatusBadRequest, "bad_request", err.Error())
		return
	}
	for archive := tar.NewReader(zipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		content, unread := io.ReadAll(archive)
		if err != nil || unread != nil || header.Typeflag != tar.TypeReg || strings.HasPrefix(header.Name, "/") {
			l.fake.tb.Errorf("an archive holds %+v, %v", header, errors.Join(err, unread))
			refuse(w, http.StatusBadRequest, "bad_request", "The archive cannot be read.")
			return
		}
		if said := l.files.write(filepath.Join(into, header.Name), header.Mode, content); said != "ok" {
			refuse(w, http.StatusBadRequest, "bad_request", said)
			return
		}
	}
	answer(w, map[string]any{})
}

func (l *lent) read(w http.ResponseWriter, path string) {
	content, err := l.machine.ReadFile(filepath.Join("/home/default", path))
	if path[0] == '/' {
		content, err = l.machine.ReadFile(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		refuse(w, http.StatusNotFound, "not_found", "File not found.")
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = w.Write(content)
}

func (l *lent) mkdir(w http.ResponseWriter, path string) {
	out, code, err := l.machine.Do(l.fake.tb.Context(), machine.Cmd{Argv: []string{"/bin/mkdir", path}, Dir: "/home/default", User: 1000},
		nil)
	if err != nil || code != 0 {
		refuse(w, http.StatusBadRequest, "bad_request", string(out))
		return
	}
	answer(w, map[string]any{})
}
