package diagnosis

import "testing"

func TestADiagnosisIsAsBadAsItsWorstCheck(t *testing.T) {
	t.Parallel()
	fine, warned, failed := Check{State: Fine}, Check{State: Warned}, Check{State: Failed}
	for _, c := range []struct {
		checks []Check
		want   State
	}{
		{nil, Failed}, {[]Check{fine, fine}, Fine}, {[]Check{fine, warned}, Warned}, {[]Check{warned, fine}, Warned},
		{[]Check{warned, failed, fine}, Failed}, {[]Check{fine, {}}, Failed},
	} {
		if got := Checks(c.checks).Worst(); got != c.want {
			t.Errorf("%v: %s, want %s", c.checks, got, c.want)
		}
	}
}
