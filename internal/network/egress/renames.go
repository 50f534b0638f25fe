package egress

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
)

// elsewhere are headers by which some servers take another method, path or host than the
// request's own. Servers' own gateways write them, programs have no need to.
var elsewhere = []string{
	"base-url", "http-url", "path-info", "path-translated", "proxy-host", "proxy-url", "request-method", "request-uri", "script-name",
	"uri", "url", "x-envoy-original-path", "x-host", "x-http-method", "x-http-host", "x-method", "x-path-info", "x-proxy-url",
	"x-request-uri", "x-script-name", "x-uri", "x-url",
}

// aimedAnew begin the names of headers of the same kind, and replaced are the words that make
// one of a name with "override".
var (
	aimedAnew = []string{"x-forwarded-", "x-original-", "x-override-", "x-rewrite-"}
	replaced  = []string{"host", "method", "path", "uri", "url", "verb"}
)

// dropped begin as those do. The proxy passes none of them on.
var dropped = []string{"x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"}

// renames says whether a name has some servers take another method, path or host.
func renames(name string) bool {
	name = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	words := strings.Split(name, "-")
	return slices.Contains(elsewhere, name) ||
		!slices.Contains(dropped, name) &&
			slices.ContainsFunc(aimedAnew, func(start string) bool { return strings.HasPrefix(name, start) }) ||
		slices.Contains(words, "override") &&
			slices.ContainsFunc(replaced, func(what string) bool { return slices.Contains(words, what) })
}

// isPlainName says whether every server reads the same name. Those that keep headers as
// variables write all but letters and digits as "_".
func isPlainName(name string) bool {
	return !strings.ContainsFunc(name, func(c rune) bool {
		return c != '-' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
	})
}

// misread refuses a request that a server may read as another one.
func misread(c bailiff.Connection, r *http.Request) *refusal {
	for _, head := range []http.Header{r.Header, r.Trailer} {
		for name := range head {
			switch {
			case renames(name):
				return refuse(c, ruleAmbiguous, fmt.Sprintf("The header %s may name another method, path or host.", phraseOfName(name)),
					"Send the request with the method and path that are meant, without the header.")
			case !isPlainName(name):
				return refuse(c, ruleAmbiguous,
					fmt.Sprintf("Servers may read the name of the header %s as another one.", phraseOfName(name)),
					"Write it with letters, digits and hyphens.")
			}
		}
	}
	return misreadQuery(c, r)
}

// misreadQuery refuses parameters that servers read as those headers.
func misreadQuery(c bailiff.Connection, r *http.Request) *refusal {
	for _, pair := range strings.FieldsFunc(r.URL.RawQuery, func(c rune) bool { return c == '&' || c == ';' }) {
		name, _, _ := strings.Cut(pair, "=")
		if name, err := url.QueryUnescape(name); err == nil && renamesAsParameter(strings.ToLower(name)) {
			return refuse(c, ruleAmbiguous, fmt.Sprintf("The parameter %s may name another method or path.", phraseOfName(name)),
				"Send the request with the method and path that are meant, without the parameter.")
		}
	}
	return nil
}

func renamesAsParameter(name string) bool {
	return name == "_method" || (strings.HasPrefix(name, "x-") || strings.HasPrefix(name, "x_")) && renames(name)
}

// longestName bounds what a refusal tells of a name that a program chose.
const longestName = 60

func phraseOfName(name string) string { return phrase(bailiff.Beginning(name, longestName)) }

// destinations are where a request has its server write something by WebDAV's header: the
// policies are asked about that path too.
func destinations(c bailiff.Connection, r *http.Request) ([]bailiff.Connection, *refusal) {
	written, there := r.Header["Destination"]
	if !there {
		return nil, nil
	}
	no := refuse(c, ruleAmbiguous, "The header Destination names no path of this host that can be judged.",
		"Name one path of the same host, in its shortest form.")
	if len(written) != 1 {
		return nil, no
	}
	to, err := url.Parse(written[0])
	if err != nil || to.Path == "" || to.Opaque != "" || to.User != nil || to.RawQuery != "" || to.ForceQuery ||
		to.Host != "" && (to.Host != r.Host || to.Scheme != c.Protocol) || to.Host == "" && (to.Scheme != "" ||
		strings.HasPrefix(written[0], "//")) || !isPlainPath(to) {
		return nil, no
	}
	return readings(c, to), nil
}

// readings are a connection with each path that servers may read in a URL.
func readings(c bailiff.Connection, u *url.URL) (asked []bailiff.Connection) {
	for _, one := range []string{u.Path, keptSlashes(u)} {
		for _, c.Path = range []string{one, withoutDots(one)} {
			if !slices.ContainsFunc(asked, func(before bailiff.Connection) bool { return before.Path == c.Path }) {
				asked = append(asked, c)
			}
		}
	}
	return asked
}
