package app

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/enforcer"
	"github.com/bailiff-dev/bailiff/internal/audit"
	"github.com/bailiff-dev/bailiff/internal/egress"
	"github.com/bailiff-dev/bailiff/internal/pdp"
	"github.com/bailiff-dev/bailiff/internal/reach"
	"github.com/bailiff-dev/bailiff/internal/records"
	"github.com/bailiff-dev/bailiff/internal/trust"
)

// newWayOut makes the proxy by which sandboxes leave whose network is egress.
func (c *core) newWayOut() (enforcer.WayOut, error) {
	key, err := sandboxesKey(filepath.Join(c.cfg.StateDir, "egress.key"))
	if err != nil {
		return nil, err
	}
	roots, err := trustedRoots(c.cfg.Egress.Trust)
	if err != nil {
		return nil, err
	}
	proxy, err := egress.New(egress.Config{
		Judge: countedJudge{c.policies, c.metrics}, Recorder: countedEvents{connectionLog{c.recorder()}, c.metrics},
		Resolver: hostNames{c.cfg.Egress.Hosts}, Dialer: egress.NetDialer{},
		Floor: reach.NewFloor(c.cfg.Egress.Own, reach.MachineAddresses), Key: key, Roots: roots,
	})
	return countedWay{proxy, c.metrics}, err
}

// sandboxesKey reads the key from which those of sandboxes' authorities come, or makes it.
func sandboxesKey(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		key := make([]byte, egress.KeySize)
		_, _ = rand.Read(key) // never fails
		if err := records.Write(path, key, true); err != nil {
			return nil, fmt.Errorf("making the key of sandboxes' certificates: %w", err)
		}
		return key, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the key of sandboxes' certificates: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("others may use %s: move it away, and another is made", path)
	}
	key, err := os.ReadFile(path)
	if err == nil && len(key) != egress.KeySize {
		err = fmt.Errorf("%s holds %d bytes, want %d: move it away, and another is made", path, len(key), egress.KeySize)
	}
	return key, err
}

// trustedRoots are those of the machine, and those in files of the configuration.
func trustedRoots(paths []string) (*x509.CertPool, error) {
	roots, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("reading the certificates that this machine trusts: %w", err)
	}
	for _, path := range paths {
		text, err := trust.Public(path)
		if err != nil {
			return nil, fmt.Errorf("reading egress.trust: %w", err)
		}
		if !roots.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("reading egress.trust: %s holds no certificate as PEM", path)
		}
	}
	return roots, nil
}

// hostNames are those of the configuration, and all that the machine resolves.
type hostNames struct{ configured map[string]netip.Addr }

// LookupNetIP finds the addresses of a name.
func (n hostNames) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	if address, ok := n.configured[strings.TrimSuffix(host, ".")]; ok {
		return []netip.Addr{address}, nil
	}
	return net.DefaultResolver.LookupNetIP(ctx, network, host)
}

// connectionLog writes the events of connections into the decision log.
type connectionLog struct{ log enforcer.Recorder }

// Record writes an opening before it returns; the rest need not be waited for.
func (l connectionLog) Record(ctx context.Context, e egress.Event) error {
	event := api.Event{
		DecisionID: e.Connection.For.DecisionID, Timestamp: time.Now().UTC(), RequestedBy: e.Connection.Caller,
		Custom: api.Custom{Event: api.ConnectionEvent, Session: e.Connection.Session.ID, Backend: e.Connection.Backend,
			Connection: connectionSaid(e)},
	}
	if event.DecisionID == "" {
		event.DecisionID = audit.NewID()
	}
	if j := e.Judged; j != nil {
		event.Path, event.Input, event.Result = api.ConnectionPath, pdp.ConnectionInput(e.Connection), *j
		event.Bundles = map[string]api.Bundle{"policies": {Revision: j.Revision}}
	}
	if e.What == egress.Opened {
		return l.log.Record(ctx, event)
	}
	l.log.Note(event)
	return nil
}

func connectionSaid(e egress.Event) *api.Connection {
	c := e.Connection
	return &api.Connection{What: e.What, Protocol: c.Protocol, Via: c.Via, Host: c.Host, Port: c.Port, Method: c.Method, Path: c.Path,
		Rule: e.Rule, Approval: e.Approval, Sent: e.Sent, Received: e.Received}
}
