package setup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/agents/settings"
	"github.com/bailiff-dev/bailiff/internal/text/yamledit"
)

// Prober tries whether a backend can make a sandbox that shows a folder, writable, with the
// limits that the policies order. The error says why not; a limit that it cannot hold is
// [backends.ErrUnsupported].
type Prober interface {
	Try(ctx context.Context, name string, section backends.Maker, shown bailiff.Mount) error
}

// preferred are the backends that can show a folder of this machine. In bubblewrap the
// programs of the machine are there that the project needs, so it is the first.
var preferred = []string{"bubblewrap", "docker"}

// chooseBackend takes the first that works with all limits, or else the first that works
// without those which this machine cannot hold.
func (s *Survey) chooseBackend(ctx context.Context) error {
	names, err := s.candidates()
	if err != nil {
		return err
	}
	var faults []string
	for _, name := range names {
		err := s.try(ctx, name, nil)
		if err == nil {
			s.Backend, s.Missing = name, nil
			return nil
		}
		faults = append(faults, fmt.Sprintf("%s: %v", name, err))
		if missing := s.missing(ctx, name, err); s.Backend == "" && len(missing) > 0 {
			s.Backend, s.Missing = name, missing
		}
	}
	if s.Backend == "" {
		return fmt.Errorf("no backend can show the project here: %s", strings.Join(faults, "; "))
	}
	return nil
}

// candidates are the backends to try. Where the configuration names some, the policies take
// the first of them.
func (s *Survey) candidates() ([]string, error) {
	if !s.namesBackends() {
		return preferred, nil
	}
	t, err := s.openTables()
	if err != nil {
		return nil, err
	}
	said, err := t.doc.Value(append(slices.Clone(cli), "backends")...)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", t.path, err)
	}
	order, _ := said.([]any)
	for _, element := range order {
		name, _ := element.(string)
		if s.cfg.Backends[name] == nil {
			continue
		}
		if !slices.Contains(preferred, name) {
			return nil, fmt.Errorf("%s has the backend %s for agents at a terminal, which shows no folder of this machine: add bubblewrap "+
				"or docker, and put it before in platforms.cli.backends of %s", s.File, name, t.path)
		}
		return []string{name}, nil
	}
	return nil, fmt.Errorf("%s has no backend for agents at a terminal: add backends: {bubblewrap: {}}", s.File)
}

// namesBackends says whether the configuration chooses its backends itself.
func (s *Survey) namesBackends() bool {
	if s.fresh() {
		return false
	}
	c, err := settings.Read(s.File, "", 0)
	if err != nil {
		return false
	}
	doc, err := yamledit.Parse(c.Before)
	return err == nil && doc.Node("backends") != nil
}

// section is that of the backend, as it is configured.
func (s *Survey) section() (backends.Maker, error) { return s.sectionOf(s.Backend) }

func (s *Survey) sectionOf(name string) (backends.Maker, error) {
	if section := s.cfg.Backends[name]; section != nil && s.namesBackends() {
		return section, nil
	}
	if s.in.Known[name] == nil {
		return nil, fmt.Errorf("no backend is called %s", name)
	}
	return s.in.Known[name](), nil
}

// try has a sandbox made by a backend as it is configured, without some limits.
func (s *Survey) try(ctx context.Context, name string, without []string) error {
	section, err := s.sectionOf(name)
	if err != nil {
		return err
	}
	accepted, _ := backends.ListOf(section, acceptMissing)
	allowed, _ := backends.ListOf(section, backends.MountsAllowed)
	if accepted == nil || allowed == nil {
		return errors.New("it shows no folders")
	}
	hadAccepted, hadAllowed := *accepted, *allowed
	defer func() { *accepted, *allowed = hadAccepted, hadAllowed }()
	*accepted = append(slices.Clone(hadAccepted), without...)
	*allowed = append(slices.Clone(hadAllowed), s.Project)
	if said := s.userOf(section); said != "" {
		user := userSetting(section)
		*user = said
		defer func() { *user = "" }()
	}
	return s.in.Prober.Try(ctx, name, section, bailiff.Mount{Source: s.Project, Target: s.Project})
}

// missing are the limits without which a backend works that refused with them; none if it
// does not work in any case.
func (s *Survey) missing(ctx context.Context, name string, refusal error) []string {
	if !errors.Is(refusal, backends.ErrUnsupported) && !errors.Is(refusal, backends.ErrUnavailable) {
		return nil
	}
	section, err := s.sectionOf(name)
	if err != nil {
		return nil
	}
	_, all := backends.ListOf(section, acceptMissing)
	needed := slices.DeleteFunc(slices.Clone(all), func(limit string) bool { return limit == "disk_mb" || limit == "seccomp" })
	if s.try(ctx, name, needed) != nil {
		return nil
	}
	for _, limit := range slices.Clone(needed) {
		rest := slices.DeleteFunc(slices.Clone(needed), func(other string) bool { return other == limit })
		if s.try(ctx, name, rest) == nil {
			needed = rest
		}
	}
	return needed
}

// userOf is as whom commands of a backend that can choose must run, to write the project as
// its user does; empty where that is settled.
func (s *Survey) userOf(section backends.Maker) string {
	if into := userSetting(section); into == nil || *into != "" {
		return ""
	}
	return fmt.Sprintf("%d:%d", s.in.UID, s.in.GID)
}

func userSetting(section backends.Maker) *string {
	for _, s := range section.Settings() {
		if into, ok := s.Into.(*string); ok && s.Key == "user" {
			return into
		}
	}
	return nil
}
