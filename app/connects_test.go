package app

import (
	"net/url"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

// The tool of a client that fetches leaves from this machine: on a network without bounds it reaches what is public, and no more.
func TestAToolThatFetchesReachesNoAddressOfThisMachineOnAnyNetwork(t *testing.T) {
	t.Parallel()
	s := startOffice(t, openDir(t), onePerson(t, "backends: {bubblewrap: {}}",
		`egress: {resolver: ["`+nameServer(t).String()+`"], own: ["127.0.0.1:11434"], `+
			"hosts: {public.test: 93.184.215.14, inner.test: 10.1.2.3}}",
		wayOut(t, "      inner.test: [{private: true}]\n      public.test: [{}]\n      plain.test: [{}]\n")))
	floor := "floor.address"
	for network, want := range map[string]map[string]string{
		"full": {
			"https://public.test/": "", "https://93.184.215.14/": "", "http://127.0.0.1:11434/": "",
			"https://inner.test/": floor, "https://plain.test/": floor, "http://localhost/": floor, "http://127.0.0.1/": floor,
			"http://169.254.169.254/latest": floor, "http://[::ffff:10.1.2.3]/": floor, "http://2130706433/": "egress.name",
		},
		"egress": {
			"https://public.test/": "", "https://inner.test/": "", "https://plain.test/": floor,
			"https://other.test/": "egress.not_in_table",
		},
		"none": {"https://public.test/": "network"},
	} {
		d := bailiff.Decided{Decision: bailiff.Decision{Obligations: bailiff.Obligations{Backend: bailiff.BackendTerms{
			Name: "bubblewrap", Network: network, Egress: []string{"inner.test", "public.test", "plain.test"}}}}}
		for address, rule := range want {
			to, err := url.Parse(address)
			must(t, err)
			asked := bailiff.Request{Tool: bailiff.Terminal, Session: bailiff.Session{ID: "s", Platform: "cli"}}
			no := s.refusedConnection(t.Context(), asked, d, to)
			if rule == "" && no != nil || rule != "" && (no == nil || no.Rule != rule) {
				t.Errorf("with the network %s %s is refused by %+v, want %q", network, address, no, rule)
			}
		}
	}
}
