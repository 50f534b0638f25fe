package setup

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/agents"
	"github.com/bailiff-dev/bailiff/internal/agents/settings"
)

// Entry is what the settings of the agent that is set up have to say.
func (s *Survey) Entry() settings.Entry {
	return settings.Entry{Listen: s.address(), Programs: s.in.Programs, Home: s.in.Home, Getenv: s.in.Getenv}
}

// RootLines are the lines by which root has every user's agent ask, each at a sidecar of its
// own or at this one.
func (s *Survey) RootLines() ([]string, error) {
	a, has := s.agent.(agents.HookCaller)
	if !has {
		return nil, fmt.Errorf("%s reads no hooks of root's: leave --managed out", s.in.Agent)
	}
	return a.RootLines(s.Entry()), nil
}

// Trust has the agent call the hooks that were written, where it asks its user first. Where that fails, byHand is how the user has it
// call them.
func (s *Survey) Trust(ctx context.Context) (byHand string, err error) {
	a, asks := s.agent.(agents.TrustAsker)
	if !asks {
		return "", nil
	}
	return a.ByHand(), s.recordTrust(func() error { return a.Trust(ctx, s.Entry()) })
}

// Advice is what is left to do or to know.
func (s *Survey) Advice() []string {
	lines := append(s.authorAdvice(), s.cacheAdvice()...)
	if a, ok := s.agent.(agents.Adviser); ok {
		lines = append(lines, a.Advice(s.Entry())...)
	}
	return lines
}

// recordsFile is where is noted what was written.
func (s *Survey) recordsFile() string {
	return backends.RealPath(filepath.Join(s.cfg.StateDir, "setup.json"))
}

// isWeakening says whether a key of bailiff.yaml is one that setup writes only by a person's yes.
func isWeakening(path []string) bool {
	return slices.Equal(path, []string{"operator", "allow_same_user"}) ||
		len(path) == 3 && path[0] == "backends" && path[2] == acceptMissing
}

// record notes what is to be written, before it is: of bailiff.yaml what weakens bailiff.
func (s *Survey) record(author, configured settings.Change, asked []settings.Change) (settings.Change, error) {
	r, err := settings.ReadRecords(s.recordsFile())
	if err != nil {
		return settings.Change{}, err
	}
	r.Add("", author)
	r.AddOnly(configured, isWeakening)
	for _, c := range asked {
		r.Add(s.in.Agent, c)
	}
	return r.Change(), nil
}

// recordTrust notes what the agent itself wrote into its settings when it was told to trust the hooks.
func (s *Survey) recordTrust(trust func() error) error {
	var before []settings.Change
	for _, path := range s.agent.Settings(s.Entry()) {
		c, err := settings.Read(path, "", 0o600)
		if err != nil {
			return err
		}
		before = append(before, c)
	}
	if err := trust(); err != nil {
		return err
	}
	r, err := settings.ReadRecords(s.recordsFile())
	if err != nil {
		return err
	}
	for _, c := range before {
		now, err := settings.Read(c.Path, "", 0o600)
		if err != nil {
			return err
		}
		c.After = now.Before
		r.Add(s.in.Agent, c)
	}
	if c := r.Change(); !c.IsNone() {
		return settings.Write([]settings.Change{c})
	}
	return nil
}

// takeBackAgent has the agent's files say again what they said before, and notes what stays.
func (s *Survey) takeBackAgent(r settings.Records) ([]settings.Change, error) {
	if a, ok := s.agent.(agents.Leaver); ok && !r.Has(s.in.Agent) {
		s.Stays = append(s.Stays, a.Leftovers(s.Entry())...)
	}
	changes, stays, err := r.TakeBack(s.in.Agent, s.Entry(), s.agent.Remove)
	s.Stays = append(s.Stays, stays...)
	return changes, err
}
