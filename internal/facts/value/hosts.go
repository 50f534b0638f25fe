package value

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// URLHost is the host of a URL anywhere in a word, as in "--url=https://x.test/".
func URLHost(s string) (string, bool) {
	i := strings.Index(s, "://")
	if i <= 0 {
		return "", false
	}
	host := hostAt(s[i+len("://"):])
	return NormalHost(host), host != ""
}

// hostAt is the host at the beginning of what follows "://".
func hostAt(rest string) string {
	if end := strings.IndexAny(rest, "/?#\\ \t\n\"'"); end >= 0 {
		rest = rest[:end]
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		rest = rest[at+1:]
	}
	return withoutPort(rest)
}

// URLHosts are the hosts of all URLs in a text.
func URLHosts(s string) []string {
	var hosts []string
	for {
		i := strings.Index(s, "://")
		if i < 0 {
			return hosts
		}
		s = s[i+len("://"):]
		if h := hostAt(s); h != "" {
			hosts = append(hosts, NormalHost(h))
		}
	}
}

func withoutPort(s string) string {
	if strings.HasPrefix(s, "[") {
		inner, _, _ := strings.Cut(s[1:], "]")
		return inner
	}
	if i := strings.LastIndexByte(s, ':'); i >= 0 && strings.Count(s, ":") == 1 {
		return s[:i]
	}
	return s
}

// BareHost is the host of an operand such as "user@host:22" or "host/path".
func BareHost(s string) string {
	if h, ok := URLHost(s); ok {
		return h
	}
	s, _, _ = strings.Cut(s, "/")
	if at := strings.LastIndexByte(s, '@'); at >= 0 {
		s = s[at+1:]
	}
	return NormalHost(withoutPort(s))
}

// RemotePath splits "user@host:path" of scp, rsync and git.
func RemotePath(s string) (host string, ok bool) {
	host, rest, found := strings.Cut(s, ":")
	if !found || host == "" || strings.ContainsAny(host, "/=") || strings.HasPrefix(rest, "//") && urlish(host) {
		return "", false
	}
	return BareHost(host), true
}

func urlish(scheme string) bool { return !strings.ContainsAny(scheme, ".@") }

// NormalHost is a host in lower case, an address in its usual spelling: 0xA9FEA9FE is 169.254.169.254.
func NormalHost(h string) string {
	if strings.Contains(h, "$") {
		return h
	}
	if u, err := url.PathUnescape(h); err == nil {
		h = u
	}
	h = strings.TrimSuffix(strings.ToLower(h), ".")
	if ip, err := netip.ParseAddr(h); err == nil {
		return ip.Unmap().String()
	}
	if ip, ok := oldAddress(h); ok {
		return ip.String()
	}
	return h
}

// oldAddress reads the spellings of inet_aton: one to four parts, decimal, octal or hexadecimal.
func oldAddress(h string) (netip.Addr, bool) {
	parts := strings.Split(h, ".")
	if h == "" || len(parts) > 4 {
		return netip.Addr{}, false
	}
	var n uint64
	for i, p := range parts {
		v, err := strconv.ParseUint(octal(p), 0, 64)
		last := i == len(parts)-1
		limit := uint64(255)
		if last {
			limit = 1<<(8*(5-len(parts))) - 1
		}
		if err != nil || v > limit {
			return netip.Addr{}, false
		}
		if last {
			n = n<<(8*(5-len(parts))) | v
		} else {
			n = n<<8 | v
		}
	}
	return netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}), true
}

// octal spells a part as C does and Go's "_" and "0b" do not.
func octal(p string) string {
	if p == "" || strings.ContainsAny(p, "_bo") && !strings.HasPrefix(p, "0x") {
		return "?"
	}
	return p
}
