package names

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/bailiff-dev/bailiff/internal/network/reach"
)

// asked is a query of a type about a name.
func asked(t testing.TB, name string, kind dnsmessage.Type) []byte {
	t.Helper()
	text, err := (&dnsmessage.Message{Header: dnsmessage.Header{ID: 7, RecursionDesired: true}, Questions: []dnsmessage.Question{
		{Name: dnsmessage.MustNewName(name), Type: kind, Class: dnsmessage.ClassINET}}}).Pack()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// said is a reply in words: its code, and the addresses in it.
func said(t testing.TB, reply []byte) string {
	t.Helper()
	var m dnsmessage.Message
	if err := m.Unpack(reply); err != nil {
		t.Fatalf("a reply cannot be read: %v", err)
	}
	if !m.Response || m.Authoritative || m.Truncated {
		t.Errorf("the reply is %+v", m.Header)
	}
	words := strings.TrimPrefix(m.RCode.String(), "RCode")
	for _, a := range m.Answers {
		words += fmt.Sprintf(" %s %v", a.Header.Name, a.Body.(*dnsmessage.AResource).A)
	}
	return words
}

func TestAQueryIsAnsweredAsItWasWritten(t *testing.T) {
	q, fault, ok := Read(asked(t, "API.test.", dnsmessage.TypeA))
	if !ok || fault != nil || q.Name() != "API.test" || !q.WantsIPv4() || q.WantsIPv6() {
		t.Fatalf("read is %+v, %q, %t", q, fault, ok)
	}
	for want, reply := range map[string][]byte{
		"Success API.test. [127 128 1 2]": q.Address(netip.MustParseAddr("127.128.1.2")),
		"Success":                         q.NoRecords(),
		"NameError":                       q.NoSuchName(),
		"Refused":                         q.Refusal(),
		"ServerFailure":                   q.Failure(),
	} {
		if got := said(t, reply); got != want || !bytes.Equal(reply[:2], []byte{0, 7}) {
			t.Errorf("the reply is %s, %x, want %s", got, reply, want)
		}
	}
}

func TestAFaultyQueryIsAnsweredWithAFaultOrNotAtAll(t *testing.T) {
	const head = "0007010000010000" + "00000000"
	for _, c := range []struct{ text, want string }{
		{"", "nothing"},
		{"0007", "nothing"},
		{"0007818000010000" + "00000000" + "0161000001" + "0001", "nothing"}, // an answer
		{"0007290000010000" + "00000000" + "016100" + "00010001", "NotImplemented"},
		{"0007010000000000" + "00000000", "FormatError"},
		{"0007010000020000" + "00000000" + "016100" + "00010001" + "016200" + "00010001", "FormatError"},
		{head + "c00c" + "00010001", "FormatError"},                                                  // a pointer to itself
		{head + "0161c00c" + "00010001", "FormatError"},                                              // one to its own label
		{head + strings.Repeat("3f"+strings.Repeat("61", 63), 5) + "00" + "00010001", "FormatError"}, // too long
		{head + "4061" + "00" + "00010001", "FormatError"},
		{head + "0161", "FormatError"},
		{head + "016100" + "00010003", "Refused"}, // another class
	} {
		text, err := hex.DecodeString(c.text)
		if err != nil {
			t.Fatal(err)
		}
		_, fault, ok := Read(text)
		got := "nothing"
		if ok {
			got = said(t, fault)
		}
		if got != c.want {
			t.Errorf("to %s it says %s, want %s", c.text, got, c.want)
		}
	}
}

// Whatever a program writes, what is answered can be read and asks nothing.
func FuzzRead(f *testing.F) {
	f.Add(asked(f, "api.test.", dnsmessage.TypeA))
	f.Add(asked(f, "api.test.", dnsmessage.TypeTXT)[:20])
	f.Add([]byte("\x00\x07\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\xc0\x0c\x00\x01\x00\x01"))
	f.Fuzz(func(t *testing.T, text []byte) {
		q, fault, ok := Read(text)
		switch {
		case !ok:
			return
		case fault != nil:
			_ = said(t, fault)
			return
		}
		_, _ = reach.ParseHost(q.Name())
		address := q.Address(netip.MustParseAddr("127.128.1.2"))
		for _, reply := range [][]byte{address, q.NoRecords(), q.NoSuchName(), q.Refusal(), q.Failure()} {
			if len(reply) > 512 {
				t.Errorf("a reply has %d bytes", len(reply))
			}
			_ = said(t, reply)
		}
	})
}

func host(t testing.TB, name string) reach.Host {
	t.Helper()
	h, err := reach.ParseHost(name)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

var all = netip.MustParsePrefix("127.128.0.0/10")

func TestAnAddressStandsForOneNameOfOneSandbox(t *testing.T) {
	one, other := NewTable("one", all), NewTable("other", all)
	a, ok := one.Address(host(t, "api.test"))
	again, _ := one.Address(host(t, "API.test."))
	b, _ := one.Address(host(t, "db.test"))
	if !ok || a != again || a == b || !all.Contains(a) || a.As4()[2] == 0 && a.As4()[1] == 128 {
		t.Errorf("the addresses are %s, %s and %s", a, again, b)
	}
	if h, stands := one.Host(a); !stands || h != host(t, "api.test") {
		t.Errorf("%s stands for %s, %t", a, h, stands)
	}
	if h, stands := other.Host(a); stands {
		t.Errorf("in another sandbox it stands for %s", h)
	}
	elsewhere, _ := other.Address(host(t, "api.test"))
	if elsewhere == a {
		t.Error("a name has the same address in each sandbox")
	}
	for _, address := range []string{"127.0.0.1", "127.128.0.53", "127.192.0.1", "::1"} {
		if h, stands := one.Host(netip.MustParseAddr(address)); stands {
			t.Errorf("%s stands for %s", address, h)
		}
	}
}

// A program that looks more names up than are kept loses those that it used longest ago, and none
// gets an address that stands for another.
func TestATableOfManyNamesIsBounded(t *testing.T) {
	table := NewTable("s", all)
	first, _ := table.Address(host(t, "first.test"))
	held := map[netip.Addr]string{}
	for i := range 3 * most {
		name := fmt.Sprintf("n%d.test", i)
		a, ok := table.Address(host(t, name))
		if !ok {
			t.Fatalf("%s has no address", name)
		}
		held[a] = name
	}
	if h, stands := table.Host(first); stands && h.String() == "first.test" {
		t.Error("the first name is kept for ever")
	}
	kept := 0
	for a, name := range held {
		if h, stands := table.Host(a); stands {
			if kept++; h.String() != name {
				t.Errorf("%s stands for %s, not %s", a, h, name)
			}
		}
	}
	if kept < most || kept > 2*most {
		t.Errorf("%d names are kept, want %d to %d", kept, most, 2*most)
	}
	if again, ok := table.Address(host(t, "first.test")); !ok || again != first {
		t.Errorf("looked up again, the first name has %s, want %s", again, first)
	}
	narrow := NewTable("s", netip.MustParsePrefix("127.128.0.0/23")) // 256 addresses
	for i := range 256 {
		narrow.Address(host(t, fmt.Sprintf("n%d.test", i)))
	}
	full := false
	for i := range 10 {
		_, ok := narrow.Address(host(t, fmt.Sprintf("more%d.test", i)))
		full = full || !ok
	}
	if !full {
		t.Error("a name gets the address of another")
	}
}
