package suggest

import (
	"net/netip"
	"slices"
	"strings"
)

// mark says of each host whether it looks like one that is known, or was wanted more often.
func mark(hosts []Host, known []string) {
	familiar := slices.Clone(known)
	for i, host := range hosts {
		if like := slices.IndexFunc(familiar, func(one string) bool { return looksLike(host.Host, one) }); like >= 0 && !host.Known {
			hosts[i].LooksLike = familiar[like]
		}
		familiar = append(familiar, host.Host)
	}
}

// looksLike says whether people may take a host for another one: it holds that one's name, or differs in a letter.
func looksLike(host, known string) bool {
	known = strings.TrimPrefix(known, "*.")
	if _, err := netip.ParseAddr(host); err == nil || host == known || len(known) < 4 || strings.HasSuffix(host, "."+known) ||
		strings.HasSuffix(known, "."+host) {
		return false
	}
	return strings.Contains(host, known) || strings.Contains(strings.ReplaceAll(host, "-", "."), known) || isOneApart(host, known)
}

// isOneApart says whether one letter was changed, added, left out, or moved by one place.
func isOneApart(a, b string) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	start := 0
	for start < len(b) && a[start] == b[start] {
		start++
	}
	switch len(a) - len(b) {
	case 0:
		if start == len(a) || isDigit(a[start]) && isDigit(b[start]) { // db1 and db2 are no look-alikes
			return false
		}
		swapped := start+1 < len(a) && a[start] == b[start+1] && a[start+1] == b[start] && a[start+2:] == b[start+2:]
		return swapped || a[start+1:] == b[start+1:]
	case 1:
		return !isDigit(a[start]) && a[start+1:] == b[start:]
	}
	return false
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
