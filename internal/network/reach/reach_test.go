package reach

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
)

func TestHostsHaveOneSpelling(t *testing.T) {
	long := strings.Repeat("a", 63)
	for written, want := range map[string]string{
		"allowed.test": "allowed.test", "allowed.test.": "allowed.test", "ALLOWED.Test": "allowed.test",
		"xn--bcher-kva.example": "xn--bcher-kva.example", "localhost": "localhost", "r3---sn.example": "r3---sn.example",
		"192.0.2.1": "192.0.2.1", "[2001:DB8:0::1]": "2001:db8::1", "[::ffff:169.254.169.254]": "169.254.169.254",
		long + ".test": long + ".test", "1.example": "1.example", "0x7f.example": "0x7f.example",
	} {
		if host, err := ParseHost(written); err != nil || host.String() != want {
			t.Errorf("%q is %q (%v), want %q", written, host, err, want)
		}
	}
}

func TestHostsOfTwoMeaningsAreRefused(t *testing.T) {
	long := strings.Repeat("a", 64)
	for name, written := range map[string]string{
		"NUL": "allowed.test\x00.evil.test", "CR": "allowed.test\r", "LF": "allowed.test\n", "tab": "allowed.test\t",
		"space":               "allowed.test ",
		"two dots at the end": "allowed.test..", "empty label": "allowed..test", "leading dot": ".allowed.test", "nothing": "",
		"a dot":       ".",
		"Kelvin sign": "\u212aelvin.test", "full-width dot": "allowed\uff0etest", "raw UTF-8": "bücher.example",
		"user": "user@allowed.test", "fragment": "allowed.test#@evil.test", "backslash": `allowed.test\evil.test`, "slash": "a/b",
		"percent": "allowed%2etest", "question mark": "allowed.test?x", "zone": "[::1%25.allowed.test]",
		"zone without 25": "[fe80::1%eth0]",
		"hex":             "0x7f.1", "hex alone": "0x7f000001", "octal": "017700000001", "octal parts": "0177.0.0.1",
		"one number": "2130706433", "short": "127.1",
		"huge number": "99999999999999999999999", "number with a dot": "127.0.0.1.", "five parts": "1.2.3.4.5", "bare 0x": "a.0x",
		"long label": long + ".test", "long name": strings.Repeat("a.", 128) + "test", "hyphen first": "-a.test",
		"hyphen last":       "a-.test",
		"punycode of ASCII": "xn--allowed-.test", "broken punycode": "xn--\u0061\u0061\u0061\u0061999999999.test",
		"unclosed bracket": "[::1", "IPv4 in brackets": "[127.0.0.1]", "IPv6 bare": "::1", "underscore": "a_b.test",
	} {
		if host, err := ParseHost(written); !errors.Is(err, ErrName) {
			t.Errorf("%s: %q is read as %q (%v)", name, written, host, err)
		}
	}
}

func TestTargets(t *testing.T) {
	for written, want := range map[string]string{
		"allowed.test:443": "allowed.test:443", "[::1]:80": "[::1]:80", "[::ffff:1.2.3.4]:80": "1.2.3.4:80",
		"A.test.:65535": "a.test:65535",
	} {
		if target, err := ParseTarget(written); err != nil || target.String() != want {
			t.Errorf("%q is %q (%v), want %q", written, target, err, want)
		}
	}
	for _, written := range []string{"a.test", "a.test:", "a.test:0", "a.test:65536", "a.test:443 ", "a.test: 443",
		"a.test:+443", "a.test:0443",
		"a.test:443:80", ":443", "a.test:443\x00", "[::1]", "[::1]80", "a.test:-1", "a.test:٤٤٣"} {
		if target, err := ParseTarget(written); !errors.Is(err, ErrName) {
			t.Errorf("%q is read as %q (%v)", written, target, err)
		}
	}
}

func TestDomains(t *testing.T) {
	for written, want := range map[string]string{"a.b.example.co.uk": "example.co.uk", "com": "", "1.2.3.4": ""} {
		if host, err := ParseHost(written); err != nil || host.Domain() != want {
			t.Errorf("the domain of %s is %q (%v), want %q", written, host.Domain(), err, want)
		}
	}
}

func TestClasses(t *testing.T) {
	for address, want := range map[string]string{
		"0.0.0.0": "unspecified", "0.1.2.3": "unspecified", "127.0.0.1": "loopback", "127.255.0.9": "loopback", "10.1.2.3": "private",
		"172.31.0.1": "private", "172.32.0.1": "", "192.168.1.1": "private", "100.64.0.1": "shared", "100.128.0.1": "",
		"100.100.100.200": "metadata",
		"169.254.1.1":     "link_local", "169.254.169.254": "metadata", "168.63.129.16": "metadata", "192.0.0.192": "metadata",
		"192.0.2.9":      "documentation",
		"198.19.255.255": "benchmark", "198.20.0.1": "", "224.0.0.251": "multicast", "240.0.0.1": "reserved",
		"255.255.255.255": "broadcast",
		"::":              "unspecified", "::1": "loopback", "fe80::1": "link_local", "fc00::1": "private", "fd00:ec2::254": "metadata",
		"fd20:ce::254": "metadata",
		"ff02::1":      "multicast", "2001:db8::1": "documentation", "2001::1": "reserved", "::ffff:127.0.0.1": "loopback",
		"::127.0.0.1":        "loopback",
		"64:ff9b::a9fe:a9fe": "metadata", "64:ff9b::7f00:1": "loopback", "64:ff9b::808:808": "", "64:ff9b:1::7f00:1": "translated",
		"2002:7f00:1::": "loopback", "2002:a9fe:a9fe::1": "metadata", "2002:a00:1::": "private", "2002:808:808::": "",
		"8.8.8.8": "", "2606:4700::1111": "",
	} {
		if got := Class(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s is %q, want %q", address, got, want)
		}
	}
}

func fixed(own ...string) func() ([]netip.Addr, error) {
	return func() ([]netip.Addr, error) {
		all := []netip.Addr{}
		for _, one := range own {
			all = append(all, netip.MustParseAddr(one))
		}
		return all, nil
	}
}

func TestTheFloor(t *testing.T) {
	floor := NewFloor([]netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:11434")}, fixed("8.8.4.4", "172.17.0.1"))
	for name, c := range map[string]struct {
		to      string
		private bool
		class   string
	}{
		"a public address":                           {"8.8.8.8:443", false, ""},
		"an address of this machine":                 {"8.8.4.4:443", false, "own"},
		"the same, though private ones are open":     {"8.8.4.4:443", true, "own"},
		"the same, by NAT64":                         {"[64:ff9b::808:404]:443", false, "own"},
		"the docker bridge, though private are open": {"172.17.0.1:443", true, "own"},
		"a private address":                          {"10.0.0.5:443", false, "private"},
		"a private address that is open":             {"10.0.0.5:443", true, ""},
		"a shared address that is open":              {"100.64.0.5:443", true, ""},
		"loopback, though private ones are open":     {"127.0.0.1:443", true, "loopback"},
		"metadata, though private ones are open":     {"169.254.169.254:80", true, "metadata"},
		"a service of this machine":                  {"127.0.0.1:11434", false, ""},
		"a service of this machine, mapped":          {"[::ffff:127.0.0.1]:11434", false, ""},
		"another port beside it":                     {"127.0.0.1:11435", false, "loopback"},
	} {
		err := floor.Check(netip.MustParseAddrPort(c.to), c.private)
		var refusal *Refusal
		if c.class == "" && err != nil || c.class != "" && (!errors.As(err, &refusal) || refusal.Class != c.class) {
			t.Errorf("%s: %v, want class %q", name, err, c.class)
		}
	}
}

func TestAMixedAnswerIsRefusedWhole(t *testing.T) {
	mixed := []netip.Addr{netip.MustParseAddr("8.8.8.8"), netip.MustParseAddr("127.0.0.1")}
	if err := NewFloor(nil, fixed()).CheckAll(mixed, 443, false); !errors.Is(err, ErrFloor) {
		t.Errorf("a mixed answer: %v", err)
	}
}

func TestAMachineThatCannotBeReadRefuses(t *testing.T) {
	floor := NewFloor(nil, func() ([]netip.Addr, error) { return nil, errors.New("no such table") })
	if err := floor.Check(netip.MustParseAddrPort("8.8.8.8:443"), false); err == nil {
		t.Error("an address is let through, though this machine's own are unknown")
	}
}

func TestThisMachinesOwnAddressesAreListed(t *testing.T) {
	own, err := MachineAddresses()
	if err != nil || len(own) == 0 {
		t.Errorf("own addresses: %v (%v)", own, err)
	}
}

func FuzzParseTarget(f *testing.F) {
	for _, seed := range []string{"allowed.test:443", "[::1%25.allowed.test]:80", "0x7f.1:80", "a\x00b:1", "xn--bcher-kva.example:1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, written string) {
		target, err := ParseTarget(written)
		if err != nil {
			return
		}
		if again, err := ParseTarget(target.String()); err != nil || again != target {
			t.Errorf("%q is %q, which is read as %q (%v)", written, target, again, err)
		}
		if strings.ContainsAny(target.String(), "\x00\r\n\t %@/\\#?") {
			t.Errorf("%q is %q", written, target)
		}
	})
}

func FuzzClass(f *testing.F) {
	f.Add([]byte{127, 0, 0, 1})
	f.Fuzz(func(t *testing.T, bytes []byte) {
		if len(bytes) != 4 {
			return
		}
		inner := netip.AddrFrom4([4]byte(bytes))
		want := Class(inner)
		mapped := netip.AddrFrom16(inner.As16())
		translated := nat64.Addr().As16()
		copy(translated[12:], bytes)
		if Class(mapped) != want || Class(netip.AddrFrom16(translated)) != want {
			t.Errorf("%s is %q, but %q and %q inside IPv6", inner, want, Class(mapped), Class(netip.AddrFrom16(translated)))
		}
	})
}
