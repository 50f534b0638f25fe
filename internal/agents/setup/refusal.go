package setup

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/agents/settings"
	"github.com/bailiff-dev/bailiff/internal/text/shellquote"
)

// refuse says why a folder must not be shown to sandboxes.
func (s *Survey) refuse() error {
	about, err := os.Stat(s.Project)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return s.refuseGone()
	case err != nil:
		return fmt.Errorf("looking at the project: %w", err)
	case !about.IsDir():
		return fmt.Errorf("%s is no folder", s.Project)
	case strings.Contains(s.Project, "$"):
		return fmt.Errorf("%s has a $ in its path, which a path in bailiff.yaml cannot have: rename the folder", s.Project)
	}
	if err := s.refuseHomes(); err != nil {
		return err
	}
	if err := s.refuseOwn(); err != nil {
		return err
	}
	if unix.Access(s.Project, unix.R_OK|unix.W_OK|unix.X_OK) != nil {
		return fmt.Errorf("%s cannot be written by uid %d, as which commands would run there", s.Project, s.in.UID)
	}
	mount := bailiff.Mount{Source: s.Project, Target: s.Project}
	return backends.CheckMounts([]bailiff.Mount{mount}, []string{s.Project})
}

// refuseGone tells a folder that was set up and then moved from one that never was.
func (s *Survey) refuseGone() error {
	for _, section := range s.cfg.Backends {
		if slices.Contains(listOf(section, backends.MountsAllowed), s.Project) {
			return fmt.Errorf("there is no folder %[1]s any more, and no sandbox is made while it is shown: take it away by bailiff setup "+
				"%[2]s --project %[3]s --remove, and name the folder where it is now", s.Project, s.in.Agent, shellquote.Quote(s.Project))
		}
	}
	return fmt.Errorf("there is no folder %s", s.Project)
}

func (s *Survey) refuseHomes() error {
	if s.Project == "/" {
		return errors.New("/ is the whole machine: name the folder of the project")
	}
	for _, home := range append(homes(), s.in.Home) {
		switch {
		case s.Project == backends.RealPath(home):
			return fmt.Errorf("%s is a home folder, with keys and settings in it: name the folder of the project", s.Project)
		case within(home, s.Project):
			return fmt.Errorf("%s holds the home folder %s: name the folder of the project", s.Project, home)
		}
	}
	return nil
}

// refuseOwn keeps commands away from what judges them, and from where they would be part of it.
func (s *Survey) refuseOwn() error {
	own := []struct{ path, what string }{
		{s.in.Programs, "bailiff's programs"}, {s.File, "bailiff's configuration"}, {s.cfg.StateDir, "bailiff's state"},
		{s.cfg.Operator.Listen.Address, "the operators' socket"}, {s.cfg.Runner.Path, "bailiff's runner"},
		{filepath.Join(filepath.Dir(s.File), policiesFolder), "bailiff's policies"},
	}
	for _, l := range s.cfg.Agent.Listeners {
		own = append(own, struct{ path, what string }{l.Listen.Address, "the agents' socket"})
	}
	for _, path := range s.cfg.Policies.Paths {
		own = append(own, struct{ path, what string }{path, "bailiff's policies"})
	}
	for _, path := range s.agent.Settings(s.Entry()) {
		own = append(own, struct{ path, what string }{path, "the agent's own settings"})
	}
	for _, o := range own {
		if filepath.IsAbs(o.path) && within(o.path, s.Project) {
			return fmt.Errorf("%s holds %s (%s), which commands could change there%s", s.Project, o.what, o.path, s.elsewhere(o.path))
		}
	}
	for _, folder := range []string{s.cfg.StateDir, filepath.Join(filepath.Dir(s.File), policiesFolder), s.in.Programs} {
		if within(s.Project, folder) {
			return fmt.Errorf("%s lies in %s, which is bailiff's own", s.Project, folder)
		}
	}
	return nil
}

// elsewhere says how programs are taken out of a project.
func (s *Survey) elsewhere(path string) string {
	if path != s.in.Programs {
		return ""
	}
	return fmt.Sprintf(": install them first, install -Dt %[1]s %s/bailiff*, and run %[1]s/bailiff",
		filepath.Join(s.in.Home, ".local", "bin"), path)
}

// within says whether a path is a folder or lies in it, links followed.
func within(path, folder string) bool {
	path, folder = backends.RealPath(path), backends.RealPath(folder)
	return path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, "/")+"/")
}

// leastUser is the uid of the first person on a machine; below it are services.
const leastUser = 1000

// homes are the folders of the people of this machine, and root's.
func homes() (all []string) {
	file, err := os.Open("/etc/passwd")
	if err != nil {
		return nil
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.Split(lines.Text(), ":")
		if len(fields) < 6 {
			continue
		}
		uid, err := strconv.Atoi(fields[2])
		if err == nil && (uid == 0 || uid >= leastUser) && filepath.IsAbs(fields[5]) && fields[5] != "/" && settings.Exists(fields[5]) {
			all = append(all, fields[5])
		}
	}
	return all
}

// ownerOf is the uid of a file's owner; -1 if that is not known.
func ownerOf(path string) int {
	var about unix.Stat_t
	if unix.Stat(path, &about) != nil {
		return -1
	}
	return int(about.Uid)
}

// list is names as a sentence has them.
func list(names []string) string { return cmp.Or(strings.Join(names, ", "), "none") }
