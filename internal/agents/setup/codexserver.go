package setup

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
)

// codexServer is a conversation with "codex app-server", which says how Codex reads its own
// settings, and changes them as Codex itself does.
type codexServer struct {
	in    io.Writer
	out   *json.Decoder
	calls int
}

// codexPatience is how long a conversation may take, mostAnswered how much of it is read.
const (
	codexPatience = 20 * time.Second
	mostAnswered  = 16 << 20
)

// withCodex has a conversation with the Codex that is in the path.
func withCodex(ctx context.Context, talk func(*codexServer) error) (err error) {
	ctx, cancel := context.WithTimeout(ctx, codexPatience)
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
	c := &codexServer{in: in, out: json.NewDecoder(io.LimitReader(out, mostAnswered))}
	if err := c.call("initialize", map[string]any{"clientInfo": map[string]string{"name": "bailiff", "version": "1"}}, nil); err != nil {
		return err
	}
	if err := json.NewEncoder(in).Encode(map[string]any{"method": "initialized"}); err != nil {
		return fmt.Errorf("asking codex: %w", err)
	}
	return talk(c)
}

// call asks for a method, and passes over what the server says by itself.
func (c *codexServer) call(method string, params, result any) error {
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

// codexHook is a hook as Codex itself reads it.
type codexHook struct {
	Key, EventName, Command, Source, CurrentHash, TrustStatus string
	Enabled, IsManaged                                        bool
}

// hooks are those that Codex reads in a folder.
func (c *codexServer) hooks(folder string) (all []codexHook, err error) {
	var listed struct{ Data []struct{ Hooks []codexHook } }
	if err := c.call("hooks/list", map[string]any{"cwds": []string{folder}}, &listed); err != nil {
		return nil, err
	}
	for _, in := range listed.Data {
		all = append(all, in.Hooks...)
	}
	return all, nil
}

// trust has Codex call these hooks, as its user does by /hooks. It forgets them when they change.
func (c *codexServer) trust(hooks []codexHook) error {
	state := map[string]any{}
	for _, h := range hooks {
		state[h.Key] = map[string]string{"trusted_hash": h.CurrentHash}
	}
	edit := map[string]any{"keyPath": "hooks.state", "value": state, "mergeStrategy": "upsert"}
	return c.call("config/batchWrite", map[string]any{"edits": []any{edit}}, nil)
}

// off says why Codex does not call the hook; empty if it does.
func (h codexHook) off() string {
	switch {
	case !h.Enabled:
		return "it is switched off (/hooks)"
	case h.IsManaged || h.TrustStatus == "trusted":
		return ""
	}
	return "it is not trusted, so that Codex skips it without a word (/hooks, or the same bailiff setup again)"
}

var errUntrusted = errors.New("codex does not say that it calls the hook")

// trust has Codex trust the hooks that were written for it, and no other.
func (c codexAgent) trust(ctx context.Context, e Entry) error {
	return withCodex(ctx, func(server *codexServer) error {
		written, err := server.written(e)
		if err != nil || areCalled(written) {
			return err
		}
		if err := server.trust(written); err != nil {
			return err
		}
		if written, err = server.written(e); err == nil && !areCalled(written) {
			err = errUntrusted
		}
		return err
	})
}

// written are the user's hooks whose lines are those that are written here.
func (c *codexServer) written(e Entry) ([]codexHook, error) {
	all, err := c.hooks(e.Home)
	return slices.DeleteFunc(all, func(h codexHook) bool {
		return h.Source != "user" || h.Command != e.hook("codex") && h.Command != e.hookAfter("codex")
	}), err
}

func areCalled(hooks []codexHook) bool {
	return len(hooks) > 0 && !slices.ContainsFunc(hooks, func(h codexHook) bool { return h.off() != "" })
}

// look says of each hook in Codex' files whether Codex calls it, as it says itself.
func (c codexAgent) look(ctx context.Context, e Entry, hooks []Hook) {
	var known []codexHook
	err := withCodex(ctx, func(server *codexServer) (err error) {
		known, err = server.hooks(e.Home)
		return err
	})
	for i := range hooks {
		h := &hooks[i]
		if err != nil {
			h.Doubt = fmt.Sprintf("Whether Codex calls it is not known, since codex was not asked (%v)", err)
			continue
		}
		if at := slices.IndexFunc(known, func(k codexHook) bool { return k.Command == h.Line && k.EventName == "preToolUse" }); at < 0 {
			h.Off = "Codex does not read it"
		} else if off := known[at].off(); off != "" {
			h.Off = off
		}
	}
}
