package egress

import (
	"net/netip"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/network/reach"
)

// An address that no row opens is not said to lack one.
func TestAnAddressThatNoRowOpensIsForeseenAsSuch(t *testing.T) {
	t.Parallel()
	floor := reach.NewFloor([]netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:11434")}, func() ([]netip.Addr, error) {
		return []netip.Addr{}, nil
	})
	f := Foreseer{Judge: &world{}, Floor: floor}
	for target, want := range map[string]string{"169.254.169.254:80": ruleAddress, "127.0.0.1:80": ruleAddress, "0.0.0.0:443": ruleAddress,
		"127.0.0.1:11434": "egress.not_in_table", "10.1.2.3:443": "egress.not_in_table", "93.184.215.14:443": "egress.not_in_table",
		"a.test:443": "egress.not_in_table"} {
		to, err := reach.ParseTarget(target)
		must(t, err)
		c, judged := f.Tunnel(t.Context(), to, bailiff.Connection{})
		if judged.Outcome != bailiff.Deny || len(judged.Denials) != 1 || judged.Denials[0].Rule != want || c.Host != to.Host.String() {
			t.Errorf("%s: %s %+v", target, judged.Outcome, judged.Denials)
		}
	}
}
