package backendtest

import (
	_ "embed"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	dns "github.com/bailiff-dev/bailiff/internal/network/names"
	"github.com/bailiff-dev/bailiff/internal/network/reach"
)

//go:embed names.py
var lookingUp string

// printsOfNames runs a function of names.py in a sandbox.
func printsOfNames(t *testing.T, sandbox backends.Sandbox, call, want string) {
	t.Helper()
	cmd := python(lookingUp + "\n" + call + "\n")
	cmd.Timeout, cmd.HeadBytes = time.Minute, 1<<16
	var said strings.Builder
	if _, err := sandbox.Run(t.Context(), cmd, func(p []byte) { said.Write(p) }); err != nil || said.String() != want {
		t.Errorf("%s\nprints %q, %v, want %q", call, said.String(), err, want)
	}
}

// FindsNames has programs in a sandbox whose outlet is not open look names up and connect without
// a proxy, beside those of another one, if there is one.
func FindsNames(t *testing.T, sandbox, other backends.Sandbox) {
	t.Helper()
	of := openNames(t, sandbox)
	printsOfNames(t, sandbox, "taken()", "while its ports are taken gaierror\nand later True\n")
	printsOfNames(t, sandbox, "reach()", `getent True
a name True True
a port that is closed ConnectionRefusedError
a name that is unknown gaierror
an address that was never answered ConnectionRefusedError
by a stream True
what is too long ConnectionResetError
after what is no query True True
`)
	printsOfNames(t, sandbox, "squat()", "its place ['OSError', 'OSError']\n")
	if other != nil {
		openNames(t, other)
		a, _ := of.Address(hostOf(t, "a.test"))
		printsOfNames(t, other, fmt.Sprintf("stranger(%q)", a), "another sandbox's ConnectionRefusedError\n")
	}
	printsOfNames(t, sandbox, "many(300)", "the last True\nthe first ConnectionRefusedError True\n")
}

// openNames has a sandbox know b.test as the one name that is none, and each other at two ports,
// where what is said comes back with the address that was dialled.
func openNames(t *testing.T, sandbox backends.Sandbox) *dns.Table {
	t.Helper()
	of := dns.NewTable(sandbox.ID(), backends.Direct)
	facts, err := sandbox.(backends.Outlet).OpenOutlet(t.Context(), backends.OutletTerms{MostConnections: 16,
		LookUp: func(_ uint32, query []byte) backends.Name { return answerName(of, query) }}, func(c backends.OutletConn) {
		defer c.Close()
		if said, err := io.ReadAll(c); err == nil {
			fmt.Fprintf(c, "%s %s", c.Direct(), said)
		}
	})
	if err != nil || !facts.Names || facts.NoNames != "" {
		t.Fatalf("opening says %+v, %v", facts, err)
	}
	return of
}

func answerName(of *dns.Table, query []byte) backends.Name {
	q, fault, ok := dns.Read(query)
	if !ok || fault != nil {
		return backends.Name{Answer: fault}
	}
	host, err := reach.ParseHost(q.Name())
	switch {
	case err != nil || host.String() == "b.test":
		return backends.Name{Answer: q.NoSuchName()}
	case !q.WantsIPv4():
		return backends.Name{Answer: q.NoRecords()}
	}
	address, _ := of.Address(host)
	return backends.Name{Answer: q.Address(address), Address: address, Ports: []uint16{443, 22}, Failure: q.Failure()}
}

func hostOf(t *testing.T, name string) reach.Host {
	t.Helper()
	host, err := reach.ParseHost(name)
	Must(t, err)
	return host
}

// FindsNoNames has a sandbox open an outlet whose resolver cannot begin, for a reason, and sees that
// the outlet serves programs all the same.
func FindsNoNames(t *testing.T, sandbox backends.Sandbox, why string) {
	t.Helper()
	facts, err := sandbox.(backends.Outlet).OpenOutlet(t.Context(), backends.OutletTerms{MostConnections: 4,
		LookUp: func(uint32, []byte) backends.Name { return backends.Name{} }}, echoing)
	if err != nil || facts.Names || !strings.Contains(facts.NoNames, why) {
		t.Fatalf("opening says %+v, %v, want it to say %q", facts, err, why)
	}
	printsOfNames(t, sandbox, fmt.Sprintf("print(echo('127.0.0.1', %d))", facts.Port), "hello\n")
	printsOfNames(t, sandbox, "print(tried(address, 'a.test'))", "gaierror\n")
}
