package setup

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/agents/settings"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/host/defaultpath"
	"github.com/bailiff-dev/bailiff/internal/text/yamledit"
)

// configChange has bailiff.yaml let the project be shown and the agent ask.
func (s *Survey) configChange(a Answers) (settings.Change, error) {
	c, err := settings.Read(s.File, "the sidecar's configuration", 0o600)
	if err != nil {
		return c, err
	}
	if c.Before == "" {
		c.After = "# Written by \"bailiff setup\", which changes it where it stands.\n"
	}
	doc, err := yamledit.Parse(c.After)
	if err == nil {
		err = errors.Join(s.listen(doc), s.operate(doc, a), s.showBy(doc, a), s.judgeBy(doc))
	}
	if err != nil {
		return c, fmt.Errorf("changing %s: %w", s.File, err)
	}
	c.After = doc.String()
	if _, err := config.Parse(s.File, []byte(c.After), s.in.Known); err != nil {
		return c, fmt.Errorf("changing %s would leave it faulty: %w", s.File, err)
	}
	return c, nil
}

// listener is the one at which the agent may ask for its user, if there is one.
func (s *Survey) listener() (config.Listener, bool) {
	uid := uint32(s.in.UID) //nolint:gosec // a uid fits
	i := slices.IndexFunc(s.cfg.Agent.Listeners, func(l config.Listener) bool {
		return l.SpeaksFor("cli") && l.Listen.Network == "unix" && (len(l.UIDs) == 0 || slices.Contains(l.UIDs, uid))
	})
	if i < 0 {
		return config.Listener{}, false
	}
	return s.cfg.Agent.Listeners[i], true
}

// newListener is written where there is none. A configuration that has listeners keeps them.
func (s *Survey) newListener() (name, address string) {
	name, socket := "agent", defaultpath.AgentSocket
	if !s.fresh() {
		name, socket = "project", "project.sock"
	}
	return name, "unix://" + defaultpath.Socket(socket)
}

// address is where the agent asks.
func (s *Survey) address() string {
	if l, ok := s.listener(); ok {
		return l.Listen.String()
	}
	_, address := s.newListener()
	return address
}

func (s *Survey) listen(doc *yamledit.Document) error {
	if _, ok := s.listener(); ok {
		return nil
	}
	name, address := s.newListener()
	entry := func(name, address string, more map[string]any) map[string]any {
		all := map[string]any{"name": name, "listen": address, "uids": []any{s.in.UID}}
		for key, value := range more {
			all[key] = value
		}
		return all
	}
	if !s.fresh() && doc.Node("agent", "listeners") == nil { // the one by default stays
		for _, l := range s.cfg.Agent.Listeners {
			if err := doc.Append(entry(l.Name, l.Listen.String(), nil), "agent", "listeners"); err != nil {
				return err
			}
		}
	}
	return doc.Append(entry(name, address, map[string]any{"platforms": []any{"cli"}}), "agent", "listeners")
}

// ownConsole is where a new sidecar has its page: on this machine only, at a port that is free when it starts, since other users
// of the machine have sidecars too. The link of "bailiff console" names the port.
const ownConsole = "localhost:0"

// Answering says how approvals are answered once the changes are written.
func (s *Survey) Answering(a Answers) (answers []Answering, doubt string) {
	answers = []Answering{{"bailiff approvals watch", "shows what waits, as it comes"},
		{"bailiff approvals approve ID", `says yes to it, and "deny ID" no`}}
	if s.fresh() || s.cfg.Operator.Console != "" {
		answers = append(answers, Answering{"bailiff console", "prints a link to a page for it"})
	}
	if !a.AllowSameUser && s.SameUser {
		doubt = "Your own answers do not count, since the agent could give them: a user of operator.uids who is not the agent's " +
			"answers, or set this up with --allow-same-user."
	}
	return answers, doubt
}

// Answering is one way to answer approvals.
type Answering struct{ Line, What string }

// operate says where operators ask, with any variables of the service, and whether
// the agent's user may answer.
func (s *Survey) operate(doc *yamledit.Document, a Answers) error {
	var err error
	if s.fresh() {
		err = errors.Join(doc.Set(s.cfg.Operator.Listen.String(), "operator", "listen"), doc.Set(ownConsole, "operator", "console"),
			doc.Set("", "metrics", "listen"))
	}
	if a.AllowSameUser && !s.cfg.Operator.AllowSameUser {
		err = errors.Join(err, doc.Set(true, "operator", "allow_same_user"))
	}
	return err
}

// showBy lets the backend show the project.
func (s *Survey) showBy(doc *yamledit.Document, a Answers) error {
	section, err := s.section()
	if err != nil {
		return err
	}
	at := func(key string) []string { return []string{"backends", s.Backend, key} }
	shown := []string{s.Project}
	if a.ShowModules {
		shown = append(shown, s.Modules)
	}
	if s.showsAuthor() {
		shown = append(shown, s.authorFile())
	}
	allowed := listOf(section, backends.MountsAllowed)
	if i := slices.Index(allowed, s.sharedCache()); i >= 0 {
		err = doc.Set(yamledit.List(slices.Delete(slices.Clone(allowed), i, i+1)), at(backends.MountsAllowed)...)
	}
	for _, folder := range shown {
		if folder != "" && !slices.Contains(allowed, folder) {
			err = errors.Join(err, doc.Append(folder, at(backends.MountsAllowed)...))
		}
	}
	accepted := listOf(section, acceptMissing)
	for _, name := range s.Missing {
		if a.AcceptMissingLimits && !slices.Contains(accepted, name) {
			err = errors.Join(err, doc.Append(name, at(acceptMissing)...))
		}
	}
	if said := s.userOf(section); said != "" {
		err = errors.Join(err, doc.Set(said, at("user")...))
	}
	return err
}

// judgeBy names the policies that are written beside the configuration.
func (s *Survey) judgeBy(doc *yamledit.Document) error {
	if len(s.cfg.Policies.Paths) > 0 {
		return nil
	}
	return doc.Set([]any{policiesFolder}, "policies", "paths")
}

// unconfigure lets no backend show the project any more.
func (s *Survey) unconfigure(r settings.Records) (settings.Change, error) {
	c, err := settings.Read(s.File, "the sidecar's configuration", 0o600)
	if err != nil || c.Before == "" {
		return c, err
	}
	doc, err := yamledit.Parse(c.Before)
	for name, section := range s.cfg.Backends {
		allowed := listOf(section, backends.MountsAllowed)
		kept := slices.DeleteFunc(slices.Clone(allowed), s.isRemoved)
		if err == nil && len(kept) != len(allowed) {
			err = doc.Set(yamledit.List(kept), "backends", name, backends.MountsAllowed)
		}
	}
	if err != nil {
		return c, fmt.Errorf("changing %s: %w: take %s out of mounts_allowed yourself", s.File, err, s.Project)
	}
	c.After = s.strengthen(r, c.Path, doc.String())
	return c, nil
}

// strengthen takes back what weakens bailiff, if nothing needs the sidecar any more; what stays of it is told.
func (s *Survey) strengthen(r settings.Records, path, text string) string {
	if len(s.left) > 0 {
		return text
	}
	needs := s.Serves()
	if len(needs) == 0 {
		text = r.TakeBackText(path, text)
	}
	cfg, err := config.Parse(s.File, []byte(text), s.in.Known)
	if err != nil {
		return text // which the sidecar says, too
	}
	var stay []string
	if cfg.Operator.AllowSameUser {
		stay = append(stay, "operator.allow_same_user")
	}
	for name, section := range cfg.Backends {
		if len(listOf(section, acceptMissing)) > 0 {
			stay = append(stay, "backends."+name+"."+acceptMissing)
		}
	}
	if len(stay) == 0 {
		return text
	}
	why := "since no record says that a setup wrote it"
	if len(needs) > 0 {
		why = "for " + strings.Join(needs, ", ")
	}
	slices.Sort(stay)
	s.Stays = append(s.Stays, fmt.Sprintf("%s stays in %s, %s.", strings.Join(stay, ", "), s.File, why))
	return text
}

// NeedsRestart says whether a running sidecar cannot take a change of its configuration over at SIGHUP. What agents may ask
// at, and which folders may be shown, it can.
func (s *Survey) NeedsRestart(c settings.Change) bool {
	if c.Path != backends.RealPath(s.File) {
		return false
	}
	before, sectionsBefore, err := s.readApart(c.Before)
	after, sectionsAfter, wrong := s.readApart(c.After)
	return c.Before == "" || err != nil || wrong != nil || !reflect.DeepEqual(before, after) ||
		backends.NeedRestart(sectionsBefore, sectionsAfter)
}

// readApart reads a configuration without its listeners, which a running sidecar takes over, and its backends apart.
func (s *Survey) readApart(text string) (cfg *config.Config, all map[string]backends.Maker, err error) {
	cfg, err = config.Parse(s.File, []byte(text), s.in.Known)
	if err != nil {
		return nil, nil, err
	}
	all = cfg.Backends
	cfg.Agent.Listeners, cfg.Backends = nil, nil
	return cfg, all, nil
}

// acceptMissing is the key of the limits without which a backend may run.
const acceptMissing = "accept_missing_limits"

// listOf is what a section says of a key.
func listOf(section backends.Maker, key string) []string {
	if into, _ := backends.ListOf(section, key); into != nil {
		return *into
	}
	return nil
}
