// Package setup makes a project on this machine the place in which an agent works under
// bailiff: the sidecar's configuration, the row of the tables by which sandboxes show the
// project, and the entries in the agent's settings that have it ask.
//
// What is promised: [Look] writes nothing, and neither does [Survey.Changes]. What is
// refused is refused before anything is written. Files are edited where they stand, and
// doing the same twice changes nothing. What was written into the settings of an agent is
// recorded, so that a removal takes back that and nothing else: the files say again, byte by
// byte, what they said before; where a person changed them since, the person's edits stay, and
// what stays of a setup is said ([Survey.Stays]). Nothing is ever written inside the project. What
// weakens bailiff (limits that this machine cannot hold, approvals by the agent's own user)
// is written only where the [Answers] say so.
//
// What is not here: what each agent's settings have to say (package agents) and how their files are
// edited (package settings), asking people, and proving that it works.
package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/agents"
	"github.com/bailiff-dev/bailiff/internal/agents/settings"
	"github.com/bailiff-dev/bailiff/internal/config"
)

// Config says what is to be set up, and for whom.
type Config struct {
	// Agent is one of those that package agents names.
	Agent string
	// Project is the folder, as it was named.
	Project string
	// File is the path of bailiff.yaml as it was named; empty means the usual places.
	File string
	// Programs is the folder of bailiff, bailiff-hook and bailiff-runner.
	Programs string
	// Home is the user's, UID and GID are its numbers.
	Home     string
	UID, GID int
	// Getenv reads the variables by which agents find their settings.
	Getenv func(name string) string
	// Known are the backends that bailiff.yaml may name.
	Known backends.Catalogue
	// Managed leaves the agent's own settings alone, since root's have it ask.
	Managed bool
	// Prober tries a backend.
	Prober Prober
}

// Answers are what a person agreed to.
type Answers struct {
	// AcceptMissingLimits lets sandboxes go without the limits of [Survey.Missing].
	AcceptMissingLimits bool
	// AllowSameUser lets the user of the agent answer approvals.
	AllowSameUser bool
	// ShowModules lets sandboxes show [Survey.Modules].
	ShowModules bool
	// ObserveDays is for how long rules that may be observed are; zero leaves them asking and denying.
	ObserveDays int
}

// Survey is what was found before anything is written.
type Survey struct {
	// Project is the folder, with no link in its path.
	Project string
	// File is the bailiff.yaml that is written, which may not be there yet.
	File string
	// Backend is the one that shows the project, Missing are the limits that it cannot
	// hold on this machine and that are not accepted yet.
	Backend string
	Missing []string
	// SameUser says that approvals could not be answered by the user of the agent as it
	// is configured.
	SameUser bool
	// Sensitive are files inside the project that look like secrets, which every command
	// of the agent could read.
	Sensitive []string

	// Modules is the folder in the user's home with the modules that Go would read there, which a
	// sandbox does not show yet; empty if the project needs none.
	Modules string

	in    Config
	agent agents.Agent
	// shared says that a row of an earlier setup shows a build cache to the sandboxes of all projects.
	shared bool
	author author
	cfg    *config.Config
	// left are the folders that sandboxes show still, once a removal is written.
	left []string
	// removed is what sandboxes show beside projects, which goes with the last of them.
	removed []string

	// Stays are sentences about what a removal leaves as it is.
	Stays []string
}

// Look finds out what is there, and refuses what must not be set up.
func Look(ctx context.Context, in Config) (*Survey, error) {
	s, err := begin(in)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(s.refuse(), s.refuseOtherService()); err != nil {
		return nil, err
	}
	if s.Sensitive, err = s.sensitive(); err != nil {
		return nil, err
	}
	s.SameUser = !s.cfg.Operator.AllowSameUser
	if err := s.chooseBackend(ctx); err != nil {
		return nil, err
	}
	s.Modules, s.author = s.modules(), s.findAuthor(ctx)
	s.shared = s.shownAt(buildCacheInside) == s.sharedCache()
	return s, nil
}

// LookBack finds what is to be removed. The project need not be there any more.
func LookBack(in Config) (*Survey, error) { return begin(in) }

func begin(in Config) (*Survey, error) {
	agent, err := agents.Of(in.Agent)
	if err != nil {
		return nil, err
	}
	s := &Survey{in: in, agent: agent}
	if in.UID == 0 {
		return nil, errors.New("this is root, and root's own project cannot be shown: sandboxes never run as root, so that their " +
			"commands could not write it. Run it as the user who works on the project")
	}
	if s.Project, err = resolved(in.Project); err != nil {
		return nil, err
	}
	return s, s.readConfig()
}

// resolved is the absolute path of a folder without links; of one that is gone, as it is named.
func resolved(folder string) (string, error) {
	path, err := filepath.Abs(folder)
	if err != nil {
		return "", fmt.Errorf("finding %s: %w", folder, err)
	}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, os.ErrNotExist) {
		return path, nil
	}
	if err != nil {
		return "", fmt.Errorf("finding %s: %w", folder, err)
	}
	return real, nil
}

// readConfig reads the configuration that there is; without one the defaults hold, and a file
// is written where they are looked for.
func (s *Survey) readConfig() error {
	if s.File = s.in.File; s.File != "" {
		path, err := filepath.Abs(s.File)
		if err != nil {
			return fmt.Errorf("finding the configuration: %w", err)
		}
		s.File = path
	} else if found, err := config.Find(""); err != nil {
		return err
	} else if s.File = found; found == "" {
		s.File = filepath.Join(s.in.Home, ".config", "bailiff", "bailiff.yaml")
	}
	_, err := os.Stat(s.File)
	if errors.Is(err, os.ErrNotExist) {
		s.cfg = config.Default(s.in.Known)
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the configuration: %w", err)
	}
	if s.cfg, err = config.Load(s.File, s.in.Known); err != nil {
		return err
	}
	return s.isOwn()
}

// isOwn refuses the configuration of another user's sidecar.
func (s *Survey) isOwn() error {
	if owner := ownerOf(s.File); owner != s.in.UID {
		return fmt.Errorf("%s belongs to uid %d, and this is uid %d: have its owner show the project there, or set up a sidecar of "+
			"your own by --config %s", s.File, owner, s.in.UID, filepath.Join(s.in.Home, ".config", "bailiff", "bailiff.yaml"))
	}
	return nil
}

// fresh says whether there is no configuration yet.
func (s *Survey) fresh() bool { return s.cfg.Path == "" }

// Changes are all that is to be written, in the order in which that is safe: what agents ask
// by comes last.
func (s *Survey) Changes(a Answers) ([]settings.Change, error) {
	if len(s.Missing) > 0 && !a.AcceptMissingLimits {
		return nil, fmt.Errorf("%s cannot hold these limits here: %s; it serves only where that is accepted (--accept-missing-limits)",
			s.Backend, list(s.Missing))
	}
	author, err := s.authorChange()
	if err != nil {
		return nil, err
	}
	tables, err := s.tableChanges(a)
	if err != nil {
		return nil, err
	}
	configured, err := s.configChange(a)
	if err != nil {
		return nil, err
	}
	var asked []settings.Change
	if !s.in.Managed {
		asked, err = s.agent.Add(s.Entry())
	}
	if err != nil {
		return nil, err
	}
	recorded, err := s.record(author, configured, asked)
	if err != nil {
		return nil, err
	}
	// The author stands first: no row shows a file that is not there.
	all := slices.Concat([]settings.Change{author}, tables, []settings.Change{configured, recorded}, asked)
	return slices.DeleteFunc(all, settings.Change.IsNone), nil
}

// IsOfSidecar says whether the sidecar reads a file that is changed, or the agent alone.
func (s *Survey) IsOfSidecar(c settings.Change) bool {
	return !c.IsRecord &&
		!slices.ContainsFunc(s.agent.Settings(s.Entry()), func(path string) bool { return within(c.Path, path) })
}

// IsLast says whether a removal takes the agent's last project away.
func (s *Survey) IsLast() bool { return len(s.left) == 0 }

// Removal is what takes the project away again. The agent's entries go with the last project, and so does what weakens bailiff
// where nothing else needs the sidecar.
func (s *Survey) Removal() ([]settings.Change, error) {
	changes, left, err := s.untable()
	if err != nil {
		return nil, err
	}
	s.left = left
	records, err := settings.ReadRecords(s.recordsFile())
	if err != nil {
		return nil, err
	}
	configured, err := s.unconfigure(records)
	if err != nil {
		return nil, err
	}
	changes = append(changes, configured)
	if len(left) == 0 {
		asked, err := s.takeBackAgent(records)
		if err != nil {
			return nil, err
		}
		author, err := s.takeBackAuthor(records)
		if err != nil {
			return nil, err
		}
		changes = append(append(asked, changes...), author)
	}
	return slices.DeleteFunc(append(changes, records.Change()), settings.Change.IsNone), nil
}
