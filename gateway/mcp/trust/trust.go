// Package trust keeps to which MCP servers people said yes: to a listing, which is what is
// started, what the server says of itself and all that it says of its tools.
//
// Promised here: a server of which anything is another than a person said yes to is not
// trusted; a yes is on disk before it counts, and names what was shown by its digest; what
// is different is told.
//
// Not here: how a server is asked for its listing, and what becomes of calls
// (gateway/mcp/proxy).
package trust

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/record/records"
)

const (
	// maxServers bounds the servers that are known: clients name them.
	maxServers = 200
	// maxTrusted bounds the listings of one name that people said yes to; the oldest goes.
	maxTrusted = 16
	// maxListing bounds what a server may say of itself and its tools, in bytes.
	maxListing = 1 << 20
)

var name = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// IsName says whether a server may be called so.
func IsName(server string) bool { return name.MatchString(server) }

var (
	errServers = fmt.Errorf("%d MCP servers are known, and more are not kept: have an operator forget some by "+
		"bailiff mcp trust NAME --remove", maxServers)
	errListing = fmt.Errorf("the server says more than %d KiB of itself and its tools", maxListing>>10)
	// ErrChanged refuses a yes to a listing that is not the latest any more.
	ErrChanged = errors.New("what the server is and offers changed since it was shown; look at it again")
)

// entry is what is known of a server.
type entry struct {
	Server string         `json:"server"`
	Seen   api.MCPListing `json:"seen"`
	SeenAt time.Time      `json:"seen_at"`
	Yes    []yes          `json:"yes"`
	// digest is that of Seen.
	digest string
}

// yes is what a person said yes to.
type yes struct {
	Digest  string         `json:"digest"`
	Listing api.MCPListing `json:"listing"`
	By      string         `json:"by"`
	At      time.Time      `json:"at"`
}

// Key names the entry's file.
func (e entry) Key() string { return e.Server }

func (e entry) trusts(digest string) bool {
	return slices.ContainsFunc(e.Yes, func(y yes) bool { return y.Digest == digest })
}

// Store keeps them. It is safe for concurrent use.
type Store struct {
	mu      sync.Mutex
	disk    *records.Store[entry]
	servers map[string]entry
	changed func(server string)
}

// Open reads what is in a folder. Changed is called, from then on, with the name of a server
// to which a person said yes or no.
func Open(dir string, log *slog.Logger, changed func(server string)) (*Store, error) {
	disk, err := records.Open(records.Config[entry]{Dir: dir, Durable: true, Log: log})
	if err != nil {
		return nil, fmt.Errorf("opening the trust in MCP servers: %w", err)
	}
	all, err := disk.All()
	if err != nil {
		return nil, fmt.Errorf("reading the trust in MCP servers: %w", err)
	}
	s := &Store{disk: disk, servers: map[string]entry{}, changed: changed}
	for _, e := range all {
		e.digest = Digest(e.Seen)
		s.servers[e.Server] = e
	}
	return s, nil
}

// Digest is that of a listing.
func Digest(l api.MCPListing) string {
	text, err := json.Marshal(l)
	if err != nil {
		panic(err) // texts, and JSON that was read: cannot fail
	}
	return digestOf(text)
}

func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// See notes what a server is and offers now, and says whether a person said yes to that.
func (s *Store) See(server string, l api.MCPListing) (trusted bool, err error) {
	text, err := json.Marshal(l)
	if err != nil || len(text) > maxListing {
		return false, errors.Join(errListing, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e, known := s.servers[server]
	digest := digestOf(text)
	if known && e.digest == digest {
		return e.trusts(digest), nil
	}
	if !known && len(s.servers) >= maxServers {
		return false, errServers
	}
	e.Server, e.Seen, e.digest, e.SeenAt = server, l, digest, time.Now().UTC().Truncate(time.Second)
	if err := s.keepLocked(e); err != nil {
		return false, err
	}
	return e.trusts(digest), nil
}

func (s *Store) keepLocked(e entry) error {
	if err := s.disk.Keep(e); err != nil {
		return fmt.Errorf("keeping the trust in the MCP server %s: %w", e.Server, err)
	}
	s.servers[e.Server] = e
	return nil
}

// Names says whether a person said yes to a server with a tool of that name, as it was seen last.
func (s *Store) Names(server, tool string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, known := s.servers[server]
	return known && e.trusts(e.digest) &&
		slices.ContainsFunc(e.Seen.Tools, func(t api.MCPTool) bool { return t.Name == tool && t.Refused == "" })
}

// List are all servers that are known, by name.
func (s *Store) List() []api.MCPServer {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]api.MCPServer, 0, len(s.servers))
	for _, e := range s.servers {
		all = append(all, e.shown())
	}
	slices.SortFunc(all, func(a, b api.MCPServer) int { return cmp.Compare(a.Server, b.Server) })
	return all
}

// Show is one of them; the error wraps [api.ErrUnknown].
func (s *Store) Show(server string) (api.MCPServer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, known := s.servers[server]
	if !known {
		return api.MCPServer{}, unknown(server)
	}
	return e.shown(), nil
}

func unknown(server string) error {
	return fmt.Errorf("no client has reached an MCP server called %q: have one start it once: %w", bailiff.Beginning(server, 64),
		api.ErrUnknown)
}

// Trust notes a person's yes to the listing of a digest, which must be the latest.
func (s *Store) Trust(server, digest, by string) (api.MCPServer, error) {
	e, err := s.trust(server, digest, by)
	if err != nil {
		return api.MCPServer{}, err
	}
	s.changed(server)
	return e.shown(), nil
}

func (s *Store) trust(server, digest, by string) (entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, known := s.servers[server]
	switch {
	case !known:
		return e, unknown(server)
	case e.digest != digest:
		return e, ErrChanged
	}
	e.Yes = slices.DeleteFunc(slices.Clone(e.Yes), func(y yes) bool { return y.Digest == digest })
	e.Yes = append(e.Yes, yes{digest, e.Seen, by, time.Now().UTC().Truncate(time.Second)})
	e.Yes = e.Yes[max(0, len(e.Yes)-maxTrusted):]
	return e, s.keepLocked(e)
}

// Forget forgets a server with all that people said yes to.
func (s *Store) Forget(server string) error {
	if err := s.forget(server); err != nil {
		return err
	}
	s.changed(server)
	return nil
}

func (s *Store) forget(server string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.servers[server]; !known {
		return unknown(server)
	}
	if err := s.disk.Drop(server); err != nil {
		return fmt.Errorf("forgetting the MCP server %s: %w", server, err)
	}
	delete(s.servers, server)
	return nil
}

// shown is the entry as people are shown it.
func (e entry) shown() api.MCPServer {
	m := api.MCPServer{Server: e.Server, Digest: e.digest, Listing: e.Seen, SeenAt: e.SeenAt, Changes: []api.MCPChange{}}
	if m.Trusted = e.trusts(m.Digest); len(e.Yes) == 0 {
		return m
	}
	latest := e.Yes[len(e.Yes)-1]
	m.By, m.At = latest.By, &latest.At
	if !m.Trusted {
		m.Changes = changes(latest.Listing, e.Seen)
	}
	return m
}
