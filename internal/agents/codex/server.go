package codex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/agents/settings"
)

// server is a conversation with "codex app-server", which says how Codex reads its own
// settings, and changes them as Codex itself does.
type server struct {
	in    io.Writer
	out   *json.Decoder
	calls int
}

// patience is how long a conversation may take, mostAnswered how much of it is read.
const (
	patience     = 20 * time.Second
	mostAnswered = 16 << 20
)

// withCodex has a conversation with the Codex that is in the path.
func withCodex(ctx context.Context, talk func(*server) error) (err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "codex", "app-server")
	cmd.Env, cmd.WaitDelay = os.Environ(), time.Second // as the user starts it
	in, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("starting codex: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return fmt.Errorf("starting codex: %w", err)
	}
	defer func() {
		_ = in.Close() // at which it ends
		_ = cmd.Wait()
	}()
	c := &server{in: in, out: json.NewDecoder(io.LimitReader(out, mostAnswered))}
	if err := c.call("initialize", map[string]any{"clientInfo": map[string]string{"name": "bailiff", "version": "1"}}, nil); err != nil {
		return err
	}
	if err := json.NewEncoder(in).Encode(map[string]any{"method": "initialized"}); err != nil {
		return fmt.Errorf("asking codex: %w", err)
	}
	return talk(c)
}

// call asks for a method, and passes over what the server says by itself.
func (c *server) call(method string, params, result any) error {
	c.calls++
	if err := json.NewEncoder(c.in).Encode(map[string]any{"id": c.calls, "method": method, "params": params}); err != nil {
		return fmt.Errorf("asking codex: %w", err)
	}
	for {
		var answer struct {
			ID     *int
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		switch err := c.out.Decode(&answer); {
		case err != nil:
			return fmt.Errorf("asking codex for %s: %w", method, err)
		case answer.ID == nil || *answer.ID != c.calls:
			continue
		case answer.Error != nil:
			return fmt.Errorf("asking codex for %s: %s", method, bailiff.Foreign(answer.Error.Message))
		case result == nil:
			return nil
		}
		if err := json.Unmarshal(answer.Result, result); err != nil {
			return fmt.Errorf("reading what codex says of %s: %w", method, err)
		}
		return nil
	}
}

// hook is a hook as Codex itself reads it.
type hook struct {
	Key, EventName, Command, Source, CurrentHash, TrustStatus string
	Enabled, IsManaged                                        bool
}

// hooks are those that Codex reads in a folder.
func (c *server) hooks(folder string) (all []hook, err error) {
	var listed struct{ Data []struct{ Hooks []hook } }
	if err := c.call("hooks/list", map[string]any{"cwds": []string{folder}}, &listed); err != nil {
		return nil, err
	}
	for _, in := range listed.Data {
		all = append(all, in.Hooks...)
	}
	return all, nil
}

// trust has Codex call these hooks, as its user does by /hooks. It forgets them when they change.
func (c *server) trust(hooks []hook) error {
	state := map[string]any{}
	for _, h := range hooks {
		state[h.Key] = map[string]string{"trusted_hash": h.CurrentHash}
	}
	edit := map[string]any{"keyPath": "hooks.state", "value": state, "mergeStrategy": "upsert"}
	return c.call("config/batchWrite", map[string]any{"edits": []any{edit}}, nil)
}

// off says why Codex does not call the hook; empty if it does.
func (h hook) off() string {
	switch {
	case !h.Enabled:
		return "it is switched off (/hooks)"
	case h.IsManaged || h.TrustStatus == "trusted":
		return ""
	}
	return "it is not trusted, so that Codex skips it without a word (/hooks, or the same bailiff setup again)"
}

var errUntrusted = errors.New("codex does not say that it calls the hook")

// ByHand is how its user has it call the hooks.
func (Agent) ByHand() string { return "codex, then /hooks" }

// Trust has Codex trust the hooks that were written for it, and no other.
func (c Agent) Trust(ctx context.Context, e settings.Entry) error {
	return withCodex(ctx, func(s *server) error {
		written, err := s.written(e)
		if err != nil || areCalled(written) {
			return err
		}
		if err := s.trust(written); err != nil {
			return err
		}
		if written, err = s.written(e); err == nil && !areCalled(written) {
			err = errUntrusted
		}
		return err
	})
}

// written are the user's hooks whose lines are those that are written here.
func (c *server) written(e settings.Entry) ([]hook, error) {
	all, err := c.hooks(e.Home)
	return slices.DeleteFunc(all, func(h hook) bool {
		return h.Source != "user" || h.Command != e.Hook("codex") && h.Command != e.HookAfter("codex")
	}), err
}

func areCalled(hooks []hook) bool {
	return len(hooks) > 0 && !slices.ContainsFunc(hooks, func(h hook) bool { return h.off() != "" })
}

// look says of each hook in Codex' files whether Codex calls it, as it says itself.
func (c Agent) look(ctx context.Context, e settings.Entry, hooks []settings.Hook) {
	var known []hook
	err := withCodex(ctx, func(s *server) (err error) {
		known, err = s.hooks(e.Home)
		return err
	})
	for i := range hooks {
		h := &hooks[i]
		if err != nil {
			h.Doubt = fmt.Sprintf("Whether Codex calls it is not known, since codex was not asked (%v)", err)
			continue
		}
		if at := slices.IndexFunc(known, func(k hook) bool { return k.Command == h.Line && k.EventName == "preToolUse" }); at < 0 {
			h.Off = "Codex does not read it"
		} else if off := known[at].off(); off != "" {
			h.Off = off
		}
	}
}
