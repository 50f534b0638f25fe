package enforcer

import (
	"context"
	"errors"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/enforcer/contents"
)

// readForClient judges a request that its client runs itself, on the host, by the files that it runs and by what its paths
// lead to, and returns the names of what was not looked at as the client sees it: all of them where the client's folder is none
// that the sidecar sees, so that other files may stand there.
func (e *Enforcer) readForClient(ctx context.Context, m *judged) (unread []string) {
	if m.located.Folder == "" {
		e.recognise(ctx, m)
		return m.Files
	}
	if !e.readsFiles(m) && !e.surveys(m) && !e.seeks(m) {
		return m.Files
	}
	defer m.release()
	alone := m.Judgement
	m.looksOnly = true
	if err := e.lookForClient(ctx, m); err != nil {
		m.Judgement, m.look = alone, look{}
		m.release()
		e.recognise(ctx, m)
		return m.reliesOn()
	}
	return m.unlikeClient(ctx)
}

// errOtherFolder says that what stands in the sidecar's folder of a name says nothing about the client's.
var errOtherFolder = errors.New("the client's folder is another one")

// lookForClient looks at what a request depends on once the folder is known to be the client's.
func (e *Enforcer) lookForClient(ctx context.Context, m *judged) error {
	held := m.claim()
	if err := e.holdNow(ctx, m, false); err != nil {
		return err
	}
	soon, cancel := context.WithTimeout(ctx, surveyTime)
	defer cancel()
	at, err := m.lease().Resolve(soon, m.located.Args.Workdir, nil)
	switch {
	case err != nil:
		return err
	case at.Folder != m.located.Folder:
		return errOtherFolder
	}
	if err := e.examine(ctx, m); err != nil {
		return err
	}
	if m.dependsOnFiles() {
		if err := e.bind(ctx, m, held); err != nil {
			return err
		}
	}
	if m.looked && m.ground.Folder != m.located.Folder {
		return errOtherFolder
	}
	return nil
}

// reliesOn names all that it depends on what a request does.
func (m *judged) reliesOn() []string {
	return distinct(m.Files, m.Opens, m.Paths, m.Unknown, moduleNames(m.Implied))
}

// unlikeClient names what may be something else for the client, though its working folder is the sidecar's: what lies in the home
// folder of another user, and what is outside of the folder and not there for the sidecar, nor anything around it.
func (m *judged) unlikeClient(ctx context.Context) []string {
	var names []string
	if m.located.Peer != bailiff.Credential(uint32(os.Geteuid())) {
		names = slices.DeleteFunc(m.reliesOn(), func(p string) bool { return !isOfHome(p) })
	}
	for _, c := range m.contents {
		if c.Kind == bailiff.ContentMissing && !contents.IsPattern(c.Path) && m.isOutside(c.Path) && !m.sees(c.Path) {
			names = append(names, c.Path)
		}
	}
	for _, folder := range m.modules.folders {
		if m.isOutside(folder) && !m.hasFolder(ctx, folder) {
			names = append(names, inModules+folder)
		}
	}
	return distinct(names)
}

// isOfHome says that a name stands for a file, or a folder of modules, in the home folder of the program that opens it.
func isOfHome(name string) bool {
	name = strings.TrimPrefix(strings.TrimPrefix(name, inModules), `\`)
	return strings.HasPrefix(name, "~")
}

// isOutside says that a path may leave the working folder.
func (m *judged) isOutside(p string) bool {
	folder := m.located.Args.Workdir
	return leaves(p) || path.IsAbs(p) && p != folder && (folder == "" || !strings.HasPrefix(p, strings.TrimSuffix(folder, "/")+"/"))
}

// leaves says that a path may lead out of the folder from which it is seen.
func leaves(p string) bool { return slices.Contains(strings.Split(p, "/"), "..") }

// hasFolder says that a folder is there for the sidecar.
func (m *judged) hasFolder(ctx context.Context, folder string) bool {
	c, err := m.held.Read(ctx, m.located.Args.Workdir, folder, 0)
	return err == nil && c.Kind == bailiff.ContentFolder
}

// sees says that a file was there in the folder of a path, or above it; or, where a program looks for the path in one folder after
// another, that the file of this name was there below, so that the program looks no further.
func (m *judged) sees(p string) bool {
	folder, name := path.Split(p)
	sought := !slices.Contains(m.Files, p)
	return slices.ContainsFunc(m.contents, func(c bailiff.Content) bool {
		there, called := path.Split(c.Path)
		below, isAround := strings.CutPrefix(p, there)
		isAround = isAround && there != "" && there != "/" && !leaves(below)
		isBelow := sought && called == name && strings.HasPrefix(c.Path, folder)
		return c.Kind != bailiff.ContentMissing && (isAround || isBelow)
	})
}

// distinct are the names of some lists, each once.
func distinct(lists ...[]string) (names []string) {
	for _, name := range slices.Concat(lists...) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
