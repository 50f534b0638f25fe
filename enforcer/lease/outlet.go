package lease

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"net"
	"strconv"
	"sync"

	"github.com/bailiff-dev/bailiff/backends"
)

// mostConnections is how many connections of a sandbox the runner hands on at once: some more
// than the proxy lets be open, so that it can refuse those and say why.
const mostConnections = 320

// outlet is the way out of a sandbox, with the commands that use it.
type outlet struct {
	opening sync.Mutex // held while it is opened

	mu       sync.Mutex
	facts    *backends.OutletFacts // nil until it is open
	commands map[uint32]*Way
	last     *Way // the command that began last, of those that run
}

// Way is how one command leaves its sandbox.
type Way struct {
	outlet *outlet
	label  uint32
	facts  backends.OutletFacts
	by     Served
	ctx    context.Context // of the command: its connections end with it
	end    context.CancelFunc
	served sync.WaitGroup
}

// Served is what serves the way out of a command.
type Served struct {
	// Trust names the certificates, in PEM, that programs in a sandbox are to trust: always, and
	// where it has none of its own.
	Trust func(sandbox string) (certificate, others []byte, err error)
	// Conn serves a connection to its end.
	Conn func(context.Context, net.Conn)
	// Names has programs look names up in a sandbox that opens its way out now, and LookUp answers
	// their queries of DNS.
	Names  bool
	LookUp func(ctx context.Context, query []byte) backends.Name
}

// Way opens the way out of a command, which is served until it ends.
func (h *Hold) Way(ctx context.Context, by Served) (*Way, error) {
	o := &h.lease.outlet
	facts, news, err := o.open(ctx, h.lease.sandbox, by)
	if err != nil {
		return nil, fmt.Errorf("opening the way out of the sandbox: %w", err)
	}
	if news && facts.NoNames != "" {
		h.lease.pool.config.Log.WarnContext(ctx, "programs in a sandbox that know no proxy find no names", "backend", h.lease.backend,
			"sandbox", h.lease.ID(), "reason", facts.NoNames)
	}
	w := &Way{outlet: o, facts: facts, by: by}
	w.ctx, w.end = context.WithCancel(ctx)
	o.add(w)
	return w, nil
}

// Proxy is the address of the proxy for the command, as programs take it.
func (w *Way) Proxy() string {
	return "http://" + net.JoinHostPort(backends.OutletHost(w.label).String(), strconv.Itoa(w.facts.Port))
}

// Facts are what the sandbox opened.
func (w *Way) Facts() backends.OutletFacts { return w.facts }

// take has the way serve what another command, whose turn is over, was told to dial.
func (w *Way) take(label uint32) {
	if w == nil {
		return
	}
	w.outlet.mu.Lock()
	defer w.outlet.mu.Unlock()
	delete(w.outlet.commands, w.label)
	w.label = label
	w.outlet.commands[label] = w
}

// Label is that of the address of the proxy, 0 without a way.
func (w *Way) Label() uint32 {
	if w == nil {
		return 0
	}
	return w.label
}

// End cuts the command's connections, and returns when all of them are.
func (w *Way) End() {
	w.outlet.remove(w)
	w.end()
	w.served.Wait()
}

// open has the sandbox listen, once; the first time its facts are news.
func (o *outlet) open(ctx context.Context, sandbox backends.Sandbox, by Served) (facts backends.OutletFacts, news bool, err error) {
	o.opening.Lock()
	defer o.opening.Unlock()
	if o.facts != nil {
		return *o.facts, false, nil
	}
	opener, ok := sandbox.(backends.Outlet)
	if !ok {
		return facts, false, fmt.Errorf("its technology has none: %w", backends.ErrUnsupported)
	}
	terms := backends.OutletTerms{MostConnections: mostConnections}
	if terms.CA, terms.Roots, err = by.Trust(sandbox.ID()); err != nil {
		return facts, false, err
	}
	if by.Names {
		terms.LookUp = o.lookUp
	}
	if facts, err = opener.OpenOutlet(ctx, terms, o.accept); err == nil {
		o.facts = &facts
	}
	return facts, true, err
}

// lookUp answers a query on behalf of the command that it belongs to.
func (o *outlet) lookUp(label uint32, query []byte) (answer backends.Name) {
	w := o.of(label)
	if w == nil {
		return answer
	}
	defer w.served.Done()
	return w.by.LookUp(w.ctx, query)
}

// accept serves a connection on behalf of the command that it belongs to.
func (o *outlet) accept(conn backends.OutletConn) {
	w := o.of(conn.Label())
	if w == nil {
		conn.Reset("no command of the sandbox runs")
		return
	}
	defer w.served.Done()
	w.by.Conn(w.ctx, conn)
}

// of is the command of a label, or else the one that began last, counted as in use.
func (o *outlet) of(label uint32) *Way {
	o.mu.Lock()
	defer o.mu.Unlock()
	w := o.commands[label]
	if w == nil {
		w = o.last
	}
	if w != nil {
		w.served.Add(1)
	}
	return w
}

func (o *outlet) add(w *Way) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.commands == nil {
		o.commands = map[uint32]*Way{}
	}
	for w.label == 0 || o.commands[w.label] != nil {
		w.label = randomLabel()
	}
	o.commands[w.label], o.last = w, w
}

func (o *outlet) remove(w *Way) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.commands, w.label)
	if o.last == w {
		o.last = nil
		for _, other := range o.commands {
			o.last = other
		}
	}
}

// randomLabel is one of 22 bits, so that commands of one sandbox do not guess each other's.
func randomLabel() uint32 {
	var bits [4]byte
	_, _ = rand.Read(bits[:]) // never fails
	return binary.LittleEndian.Uint32(bits[:]) & (1<<22 - 1)
}
