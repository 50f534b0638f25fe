package required

import "testing"

func TestAllThatIsAbsentIsNamedAtOnce(t *testing.T) {
	t.Parallel()
	if err := Fields("mcp", map[string]bool{"Sidecar": true, "Version": false, "Name": true}); err == nil ||
		err.Error() != "mcp config lacks Name, Sidecar" {
		t.Errorf("the fault is %v", err)
	}
	if err := Fields("mcp", map[string]bool{"Version": false}); err != nil {
		t.Errorf("the fault of a config that has all is %v", err)
	}
}
